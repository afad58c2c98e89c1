package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Budgets, set once. */
@Tag("contract")
@WithRedis
class PoliciesIT {
    private final Http http = Started.shared().http;
    private final String id = Policies.id();
    private final String at = "/v1/projects/" + id;

    @Test
    void aPolicyIsTriedSetReadAndSetAgain() {
        String policy = Policies.of(id, "{rpm: 600, itpm: 100000}");
        Reply tried = http.put(at + "?dry_run=true", policy, "Content-Type", "application/yaml");
        assertThat(tried.status()).isEqualTo(200);
        assertThat(http.get(at).kind()).isEqualTo("no_project");
        assertThat(http.get(at).status()).isEqualTo(404);

        Reply set = http.put(at, policy, "Content-Type", "application/yaml");
        assertThat(set.status()).isEqualTo(200);
        assertThat(set.json().get("version").asLong()).isEqualTo(1);
        assertThat(set.header("etag")).isEqualTo("\"1\"");
        assertThat(set.json().get("changes")).isEqualTo(tried.json().get("changes"));
        assertThat(http.put(at, policy).json().get("version").asLong())
                .as("the same content keeps the version")
                .isEqualTo(1);

        Reply json = http.get(at);
        assertThat(json.header("etag")).isEqualTo("\"1\"");
        assertThat(json.json().get("classes").get(0).get("limits").get("rpm").asInt())
                .isEqualTo(600);
        Reply yaml = http.get(at, "Accept", "application/yaml");
        assertThat(yaml.header("content-type")).startsWith("application/yaml");
        assertThat(yaml.body()).contains("rpm: 600");
        assertThat(http.put(at, yaml.body(), "Content-Type", "application/yaml")
                        .json()
                        .get("same")
                        .asBoolean())
                .as("what was written out is what was read")
                .isTrue();
        assertThat(http.put(at, json.body()).json().get("same").asBoolean()).isTrue();

        Reply raised = http.put(at, Policies.of(id, "{rpm: 700, itpm: 100000}"), "If-Match", "\"1\"");
        assertThat(raised.json().get("version").asLong()).isEqualTo(2);
        JsonNode change = raised.json().get("changes").get(0);
        assertThat(change.get("path").asString()).isEqualTo("/classes/sonnet/limits/rpm");
        assertThat(change.get("from").asInt()).isEqualTo(600);
        assertThat(change.get("to").asInt()).isEqualTo(700);
        assertThat(change.get("about").asString()).isEqualTo("class sonnet");
    }

    @Test
    void whoHasSeenAnotherVersionChangesNothing() {
        http.put(at, Policies.of(id, "{rpm: 600}"));
        http.put(at, Policies.of(id, "{rpm: 700}"));
        Reply late = http.put(at, Policies.of(id, "{rpm: 800}"), "If-Match", "\"1\"");
        assertThat(late.status()).isEqualTo(412);
        assertThat(late.kind()).isEqualTo("version_mismatch");
        assertThat(late.json().get("version").asLong()).isEqualTo(2);
        assertThat(http.get(at).body()).contains("700");
        assertThat(http.put(at, Policies.of(id, "{rpm: 800}"), "If-Match", "seven")
                        .status())
                .isEqualTo(400);
    }

    /** It was read with PUT alone: a script that removed what it had seen removed what somebody had just set. */
    @Test
    void whoHasSeenAnotherVersionNeitherRemovesNorRollsBack() {
        http.put(at, Policies.of(id, "{rpm: 600}"));
        http.put(at, Policies.of(id, "{rpm: 700}"));
        for (Reply late : new Reply[] {
            http.delete(at, "If-Match", "\"1\""),
            http.delete(at + "?drain=true", "If-Match", "\"1\""),
            http.post(at + "/rollback", "{\"to\": 1}", "If-Match", "\"1\"")
        }) {
            assertThat(late.status()).as(late.body()).isEqualTo(412);
            assertThat(late.kind()).isEqualTo("version_mismatch");
            assertThat(late.json().get("version").asLong()).isEqualTo(2);
        }
        assertThat(http.delete(at, "If-Match", "two").status()).isEqualTo(400);
        assertThat(http.post(at + "/rollback", "{\"to\": 1}", "If-Match", "two").status())
                .isEqualTo(400);
        assertThat(http.get(at).header("etag")).isEqualTo("\"2\"");

        Reply back = http.post(at + "/rollback", "{\"to\": 1}", "If-Match", "\"2\"");
        assertThat(back.json().get("version").asLong()).isEqualTo(3);
        String running = http.post(at + "/permits", "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1}")
                .json()
                .get("permit")
                .asString();
        assertThat(http.delete(at + "?drain=true", "If-Match", "\"2\"").status())
                .isEqualTo(412);
        assertThat(http.get(at).header("etag")).as("it does not drain").isEqualTo("\"3\"");
        http.delete(at + "/permits/" + running);
        assertThat(http.delete(at, "If-Match", "*").status()).isEqualTo(204);
        assertThat(http.delete(at, "If-Match", "*").status()).isEqualTo(404);
    }

    @Test
    void everythingThatIsWrongIsToldWithItsPathAndNothingChanges() {
        Reply no = http.put(at, """
                project: %s
                provider: anthropic
                typo: 1
                classes:
                  - name: sonnet
                    models: ["claude-sonnet-*"]
                    limits: {rpm: -1, itpm: many}
                """.formatted(id));
        assertThat(no.status()).isEqualTo(400);
        assertThat(no.kind()).isEqualTo("invalid_policy");
        assertThat(no.json()
                        .get("problems")
                        .valueStream()
                        .map(problem -> problem.get("path").asString()))
                .contains("/typo", "/classes/0/limits/rpm", "/classes/0/limits/itpm");
        JsonNode first = no.json().get("problems").get(0);
        assertThat(first.propertyNames()).containsExactlyInAnyOrder("path", "line", "message", "value");
        assertThat(first.get("line").asInt()).isPositive();
        assertThat(http.get(at).status()).isEqualTo(404);
        Reply other = http.put(at, Policies.of("another", "{rpm: 60}"));
        assertThat(other.json().get("problems").get(0).get("path").asString()).isEqualTo("/project");
        Reply upstream = http.put(at, Policies.of(id, "{rpm: 60}") + "upstream: https://evil.example\n");
        assertThat(upstream.json().get("problems").get(0).get("path").asString())
                .isEqualTo("/upstream");
        assertThat(upstream.json().get("problems").get(0).get("line").asInt())
                .isEqualTo((int) Policies.of(id, "{rpm: 60}").lines().count() + 1);
        assertThat(other.json().get("problems").get(0).get("line").asInt()).isEqualTo(1);
        assertThat(http.put(at, "").status()).isEqualTo(400);
        assertThat(http.put("/v1/projects/UPPER", "project: UPPER").status()).isEqualTo(400);
    }

    /** Each was told only once the one before was right. */
    @Test
    void faultsOfEveryKindAreToldTogetherAndSoAreWarnings() {
        Reply no = http.put(at, """
                project: another
                provider: anthropic
                upstream: https://evil.example
                burst: soon
                classes:
                  - name: sonnet
                    models: ["claude-sonnet-*"]
                    limits: {rpm: 600}
                  - name: again
                    models: ["claude-sonnet-*"]
                    limits: {rpm: 600}
                """);
        assertThat(no.status()).isEqualTo(400);
        assertThat(no.json()
                        .get("problems")
                        .valueStream()
                        .map(one -> one.get("path").asString()))
                .containsExactly("/project", "/upstream", "/burst");
        assertThat(no.json()
                        .get("warnings")
                        .valueStream()
                        .map(one -> one.get("path").asString()))
                .contains("/classes/1");
        Reply two = http.put(at, Policies.of("another", "{rpm: 60}") + "upstream: https://evil.example\n");
        assertThat(two.json()
                        .get("problems")
                        .valueStream()
                        .map(one -> one.get("path").asString()))
                .containsExactly("/project", "/upstream");
        assertThat(http.put(at, Policies.of(id, "{rpm: 60}") + "upstream: nowhere\n")
                        .json()
                        .get("problems"))
                .hasSize(1);
    }

    @Test
    void oneThatIsTooLongIsToldSoWithItsSize(@TempDir Path directory) throws IOException {
        String policy = Policies.of(id, "{rpm: 600}");
        String large = policy + "#".repeat(300_000 - policy.length());
        Reply no = http.put(at, large);
        assertThat(no.status()).isEqualTo(400);
        assertThat(no.json().get("problems")).hasSize(1);
        assertThat(no.json().get("problems").get(0).get("message").asString()).contains("256 KiB", "300000", "262144");
        Files.writeString(directory.resolve("a.yaml"), large);
        try (Started server = Started.on(RedisServers.shared().uri(), "--sluice.policies=" + directory)) {
            await().atMost(20, TimeUnit.SECONDS)
                    .until(() ->
                            server.http.get("/v1/projects").json().get("files").size() == 1);
            assertThat(server.http
                            .get("/v1/projects")
                            .json()
                            .get("files")
                            .get(0)
                            .get("problem")
                            .asString())
                    .contains("256 KiB", "300000", "262144");
        }
    }

    @Test
    void theLastFiftyVersionsAreKept() {
        for (int version = 1; version <= 52; version++) {
            http.put(at, Policies.of(id, "{rpm: " + (600 + version) + "}"));
        }
        assertThat(http.get(at + "/versions")
                        .json()
                        .get("versions")
                        .valueStream()
                        .map(one -> one.get("version").asLong()))
                .containsExactlyElementsOf(java.util.stream.LongStream.rangeClosed(3, 52)
                        .mapToObj(i -> 55 - i)
                        .toList());
        assertThat(http.get(at + "/versions/3").body()).contains("603");
        assertThat(http.get(at + "/versions/2").kind()).isEqualTo("unknown_version");
        assertThat(http.post(at + "/rollback", "{\"to\":2}").kind()).isEqualTo("unknown_version");
    }

    /** As an address is copied from a document; what changes something is asked to say what it means. */
    @Test
    void aQuestionMayLeaveAParameterEmpty() {
        http.put(at, Policies.of(id, "{rpm: 600}"));
        assertThat(http.get(at + "/plan?class=&input_per_minute=&output_per_minute&requests_per_minute=1&in_flight=")
                        .status())
                .isEqualTo(200);
        assertThat(http.get(at + "/usage?from&to&step=&by=&format=").status()).isEqualTo(200);
        assertThat(http.get(at + "/usage?from=&form=").status()).isEqualTo(400);
        assertThat(http.delete(at + "?drain=").status()).isEqualTo(400);
    }

    /** {@code ?dry_run} alone was no dry run, and {@code ?dryrun=true} neither: both set the policy. */
    @Test
    void aParameterThatSaysNothingOrThatNobodyKnowsChangesNothing() {
        http.put(at, Policies.of(id, "{rpm: 600}"));
        for (String query : new String[] {
            "?dry_run",
            "?dry_run=",
            "?dryrun=true",
            "?dry_run=true&dry_run=false",
            "?dry_run=maybe",
            "?dry_run=true&x=1"
        }) {
            Reply no = http.put(at + query, Policies.of(id, "{rpm: 700}"));
            assertThat(no.status()).as(query).isEqualTo(400);
            assertThat(no.json().get("problems").get(0).get("path").asString())
                    .as(query)
                    .isEqualTo(query.contains("dryrun") ? "/dryrun" : query.contains("x=") ? "/x" : "/dry_run");
        }
        assertThat(http.delete(at + "?drian=true").status()).isEqualTo(400);
        assertThat(http.get(at).body()).contains("600");
    }

    @Test
    void anyVersionIsAtLeastOne() {
        Reply none = http.put(at, Policies.of(id, "{rpm: 600}"), "If-Match", "*");
        assertThat(none.status()).isEqualTo(412);
        assertThat(none.kind()).isEqualTo("version_mismatch");
        assertThat(http.get(at).status()).isEqualTo(404);
        http.put(at, Policies.of(id, "{rpm: 600}"));
        assertThat(http.put(at, Policies.of(id, "{rpm: 700}"), "If-Match", "*").status())
                .isEqualTo(200);
    }

    @Test
    void yamlIsForWhomWouldRatherHaveIt() {
        http.put(at, Policies.of(id, "{rpm: 600}"));
        assertThat(http.get(at, "Accept", "text/x-yaml, */*;q=0.1").header("content-type"))
                .startsWith("application/yaml");
        assertThat(http.get(at, "Accept", "application/json, application/yaml;q=0.9")
                        .header("content-type"))
                .startsWith("application/json");
    }

    @Test
    void versionsAreKeptWithWhoAndWhenAndTakenBack() {
        http.put(at, Policies.of(id, "{rpm: 600}"));
        http.put(at, Policies.of(id, "{rpm: 700}"));
        Reply back = http.post(at + "/rollback", "{\"to\":1}");
        assertThat(back.status()).isEqualTo(200);
        assertThat(back.json().get("version").asLong()).isEqualTo(3);
        assertThat(http.get(at).body()).contains("600");
        JsonNode versions = http.get(at + "/versions").json().get("versions");
        assertThat(versions.valueStream().map(version -> version.get("version").asLong()))
                .containsExactly(3L, 2L, 1L);
        assertThat(versions.get(0).get("who").asString()).isEqualTo("local");
        assertThat(versions.get(0).get("at").asString()).matches("\\d{4}-.*T.*Z");
        assertThat(versions.get(0).get("digest")).isEqualTo(versions.get(2).get("digest"));
        assertThat(http.get(at + "/versions/2").body()).contains("700");
        assertThat(http.get(at + "/versions/9").kind()).isEqualTo("unknown_version");
        assertThat(http.post(at + "/rollback", "{\"to\":9}").status()).isEqualTo(404);
        assertThat(http.post(at + "/rollback", "{}").status()).isEqualTo(400);
    }

    @Test
    void aProjectWithLivePermitsIsRemovedOnlyByDraining() {
        http.put(at, Policies.of(id, "{concurrency: 2}"));
        String permit = http.post(at + "/permits", "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1}")
                .json()
                .get("permit")
                .asString();
        Reply no = http.delete(at);
        assertThat(no.status()).isEqualTo(409);
        assertThat(no.kind()).isEqualTo("permits_live");
        assertThat(http.delete(at + "?drain=true").status()).isEqualTo(204);
        assertThat(http.post(at + "/permits", "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1}")
                        .kind())
                .isEqualTo("closed");
        assertThat(http.post(at + "/permits/" + permit + "/settle", "{}").status())
                .isEqualTo(200);
        await().atMost(15, TimeUnit.SECONDS).until(() -> http.get(at).status() == 404);
        assertThat(http.delete(at).status()).isEqualTo(404);
    }

    /** A tool turned "not set" into 0 and 0 into unlimited (BerriAI/litellm#39881): 0 is closed, absent is unlimited. */
    @Test
    void zeroIsClosedAbsentIsUnlimitedNegativeIsRefused() {
        String call = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":10}";
        for (String limit : new String[] {"rpm", "itpm", "concurrency"}) {
            String closed = Policies.installed(http, "{" + limit + ": 0}");
            Reply no = http.post("/v1/projects/" + closed + "/permits", call);
            assertThat(no.kind()).as(limit).isEqualTo("closed");
            assertThat(no.headers()).doesNotContainKey("retry-after");
            assertThat(http.get("/v1/projects/" + closed).body()).contains("\"" + limit + "\":0");
            assertThat(http.put(at, Policies.of(id, "{" + limit + ": -1}")).status())
                    .isEqualTo(400);
        }
        String open = Policies.installed(http, "{}");
        assertThat(http.post("/v1/projects/" + open + "/permits", call).status())
                .isEqualTo(201);
    }

    /** New limits were ignored because the bucket existed (bucket4j/bucket4j#261): here the next call sees them. */
    @Test
    void aNewLimitHoldsFromTheNextCall() {
        http.put(at, Policies.of(id, "{concurrency: 1}"));
        String call = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":10}";
        assertThat(http.post(at + "/permits", call).status()).isEqualTo(201);
        assertThat(http.post(at + "/permits", call).status()).isEqualTo(429);
        http.put(at, Policies.of(id, "{concurrency: 2}"));
        assertThat(http.post(at + "/permits", call).status()).isEqualTo(201);
        http.put(at, Policies.of(id, "{concurrency: 1}"));
        assertThat(http.post(at + "/permits", call).status()).isEqualTo(429);
    }

    @Test
    void filesOfADirectoryAreInstalledWatchedAndOwnTheirProjects(@TempDir Path directory) throws IOException {
        String second = Policies.id();
        Path file = directory.resolve("a.yaml");
        Files.writeString(file, Policies.of(id, "{rpm: 600}"));
        Files.writeString(directory.resolve("b.yaml"), "project: " + second + "\nprovider: nobody\n");
        try (Started server = Started.on(RedisServers.shared().uri(), "--sluice.policies=" + directory)) {
            await().atMost(20, TimeUnit.SECONDS).until(() -> server.http.get(at).status() == 200);
            for (Reply no : new Reply[] {
                server.http.put(at, Policies.of(id, "{rpm: 60}")),
                server.http.post(at + "/rollback", "{\"to\":1}"),
                server.http.delete(at)
            }) {
                assertThat(no.status()).isEqualTo(409);
                assertThat(no.kind()).isEqualTo("managed_by_file");
            }
            assertThat(server.http
                            .put(at + "?dry_run=true", Policies.of(id, "{rpm: 60}"))
                            .status())
                    .isEqualTo(200);
            JsonNode files = server.http.get("/v1/projects").json().get("files");
            assertThat(files.get(0).get("project").asString()).isEqualTo(id);
            assertThat(files.get(0).get("problem").isNull()).isTrue();
            assertThat(files.get(1).get("problem").asString()).contains("/provider");

            Files.writeString(file, Policies.of(id, "{rpm: 700}"));
            await().atMost(20, TimeUnit.SECONDS)
                    .until(() -> server.http.get(at).body().contains("700"));
            Files.writeString(file, Policies.of(id, "{rpm: -7}"));
            await().atMost(20, TimeUnit.SECONDS)
                    .until(() -> server.http
                            .get("/v1/projects")
                            .json()
                            .get("files")
                            .get(0)
                            .get("problem")
                            .asString("")
                            .contains("/classes/0/limits/rpm"));
            assertThat(server.http.get(at).body()).contains("700");
            assertThat(server.http.delete(at).kind())
                    .as("it is the file's all the same")
                    .isEqualTo("managed_by_file");
        }
    }
}
