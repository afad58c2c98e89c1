package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * A Redis that came back empty. A server that had not granted a permit of a project yet answered 404 for ever, though it had set the
 * policy itself, or owned its file.
 */
@WithRedis(own = true)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class EmptyRedisIT {
    private static final String CALL = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1}";

    /** One comes back in seven seconds. */
    private static final String LIMITS = "{rpm: {amount: 10, burst: 60s}}";

    private final RedisServer redis;

    @TempDir
    static Path directory;

    private final String fromFile = Policies.id();
    private Started server;

    EmptyRedisIT(RedisServer redis) {
        this.redis = redis;
    }

    @BeforeAll
    void start() throws IOException {
        Files.writeString(directory.resolve("one.yaml"), Policies.of(fromFile, LIMITS));
        server = Started.on(redis.uri(), "--sluice.policies=" + directory);
        await().atMost(20, TimeUnit.SECONDS)
                .until(() -> server.http.get("/v1/projects/" + fromFile).status() == 200);
    }

    @AfterAll
    void stop() {
        server.close();
    }

    private static List<String> listed(Started server) {
        return server.http
                .get("/v1/projects")
                .json()
                .get("projects")
                .valueStream()
                .map(one -> one.get("project").asString())
                .toList();
    }

    private static void assertNoSecondBudget(Started server, String project) {
        Reply no = server.http.post("/v1/projects/" + project + "/permits", CALL);
        assertThat(no.status()).as(no.body()).isEqualTo(429);
        assertThat(no.kind()).isEqualTo("wait");
        assertThat(no.json().get("limit").asString()).isEqualTo("rpm");
    }

    /** Whichever question comes first. */
    @ParameterizedTest
    @ValueSource(strings = {"", "/status", "/versions", "/usage", "/plan?class=sonnet&requests_per_minute=1"})
    void aQuestionPutsAPolicyBackThatThisServerSet(String question) {
        String project = Policies.installed(server.http, LIMITS);
        redis.command("FLUSHALL");

        Reply answer = server.http.get("/v1/projects/" + project + question);
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        assertThat(server.http.get("/v1/projects/" + project).header("etag")).isEqualTo("\"1\"");
        assertNoSecondBudget(server, project);
    }

    @Test
    void aPermitPutsItBackTooAndStartsWithEmptyBuckets() {
        String project = Policies.installed(server.http, LIMITS);
        redis.command("FLUSHALL");

        assertNoSecondBudget(server, project);
        assertNoSecondBudget(server, fromFile);
    }

    @Test
    void theListIsAsItWas() {
        String project = Policies.installed(server.http, LIMITS);
        redis.command("FLUSHALL");

        assertThat(listed(server)).contains(project, fromFile);
        assertNoSecondBudget(server, project);
        assertNoSecondBudget(server, fromFile);
    }

    /** Agents on other hosts ask Redis: they cannot wait until somebody asks this server. */
    @Test
    void nobodyHasToAsk() {
        String project = Policies.installed(server.http, LIMITS);
        redis.command("FLUSHALL");

        for (String id : new String[] {project, fromFile}) {
            await().atMost(Duration.ofSeconds(15))
                    .until(() -> redis.command("EXISTS", "{" + id + "}:policy").equals("1"));
        }
    }

    /** What was removed on purpose is not lost, whoever still knows it, and also once nothing tells of the removal any more. */
    @Test
    void whatWasRemovedStaysRemoved() {
        try (Started other = Started.on(redis.uri())) {
            String project = Policies.installed(server.http, LIMITS);
            assertThat(other.http.get("/v1/projects/" + project).status()).isEqualTo(200);
            assertThat(server.http.delete("/v1/projects/" + project).status()).isEqualTo(204);
            assertRemoved(other, project);
            redis.command("FLUSHALL");

            assertRemoved(server, project);
            assertRemoved(other, project);
            await().during(Duration.ofSeconds(5))
                    .atMost(Duration.ofSeconds(15))
                    .until(() ->
                            redis.command("EXISTS", "{" + project + "}:policy").equals("0"));
            assertRemoved(other, project);

            // Who sets it again may: it is new.
            assertThat(server.http
                            .put("/v1/projects/" + project, Policies.of(project, LIMITS))
                            .status())
                    .isEqualTo(200);
            assertThat(other.http
                            .post("/v1/projects/" + project + "/permits", CALL)
                            .status())
                    .isEqualTo(201);
        }
    }

    private static void assertRemoved(Started server, String project) {
        String at = "/v1/projects/" + project;
        for (Reply no : new Reply[] {
            server.http.get(at), server.http.get(at + "/status"), server.http.post(at + "/permits", CALL)
        }) {
            assertThat(no.status()).as(no.body()).isEqualTo(404);
            assertThat(no.kind()).isEqualTo("no_project");
        }
        assertThat(listed(server)).doesNotContain(project);
    }

    /** The last version that somebody knew is put back, not the one of a server that nobody has asked since. */
    @Test
    void theHighestVersionThatIsKnownWins() {
        try (Started other = Started.on(redis.uri())) {
            String project = Policies.installed(server.http, LIMITS);
            assertThat(other.http.get("/v1/projects/" + project).header("etag")).isEqualTo("\"1\"");
            server.http.put("/v1/projects/" + project, Policies.of(project, "{rpm: {amount: 20, burst: 60s}}"));
            redis.command("FLUSHALL");

            assertThat(other.http.get("/v1/projects/" + project).status()).isEqualTo(200);
            assertThat(server.http.get("/v1/projects/" + project).header("etag"))
                    .isEqualTo("\"2\"");
            Reply now = other.http.get("/v1/projects/" + project);
            assertThat(now.header("etag")).isEqualTo("\"2\"");
            JsonNode limits = now.json().get("classes").get(0).get("limits");
            assertThat(limits.get("rpm").get("amount").asInt()).isEqualTo(20);
            assertNoSecondBudget(other, project);
        }
    }
}
