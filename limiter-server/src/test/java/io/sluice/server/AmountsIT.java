package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.InvalidPolicyException;
import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * Amounts that others read as something else: 0 as unlimited, "not set" as 0 (BerriAI/litellm#39881,
 * ncecere/terraform-provider-litellm#31). By every way in, and back.
 */
@WithRedis
class AmountsIT {
    private static final String CALL =
            "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":10,\"max_output_tokens\":10,\"max_wait_ms\":60000}";
    private static final String PATH = "/classes/0/limits/";

    private final Http http = Started.shared().http;

    /** @param amount as written; empty: not at all */
    private record Case(String limit, String amount) {
        String json(String project) {
            String limits = amount.isEmpty() ? "{}" : "{\"" + limit + "\":" + amount + "}";
            return "{\"project\":\"" + project
                    + "\",\"provider\":\"anthropic\",\"headroom\":1,\"classes\":[{\"name\":\"sonnet\","
                    + "\"models\":[\"claude-sonnet-*\"],\"max_output\":100,\"limits\":" + limits + "}]}";
        }

        String yaml(String project) {
            return Policies.of(project, amount.isEmpty() ? "{}" : "{" + limit + ": " + amount + "}") + "headroom: 1\n";
        }

        boolean isRefused() {
            boolean tooLarge = amount.length() > 15 || (limit.equals("concurrency") && amount.length() > 7);
            return amount.equals("-1") || tooLarge;
        }
    }

    private static List<Case> cases() {
        List<Case> all = new ArrayList<>();
        for (String limit : List.of("rpm", "itpm", "otpm", "concurrency")) {
            Stream.of("0", "null", "", "-1", "1", "1000000000", "1000000000000000000")
                    .forEach(amount -> all.add(new Case(limit, amount)));
        }
        return all;
    }

    @Test
    void everyWayInTakesAndRefusesTheSameAndReadsBackWhatWasWritten(@TempDir Path directory) throws IOException {
        List<Case> cases = cases();
        List<String> ofFiles = new ArrayList<>();
        for (int i = 0; i < cases.size(); i++) {
            ofFiles.add(Policies.id());
            Path file = directory.resolve("%02d.yaml".formatted(i));
            Files.writeString(file, cases.get(i).yaml(ofFiles.get(i)));
        }
        try (Started watching = Started.on(RedisServers.shared().uri(), "--sluice.policies=" + directory);
                Sluice sluice = Sluice.connect(RedisServers.shared().uri())) {
            await().atMost(30, TimeUnit.SECONDS)
                    .until(() -> watching.http
                                    .get("/v1/projects")
                                    .json()
                                    .get("files")
                                    .size()
                            == cases.size());
            JsonNode files = watching.http.get("/v1/projects").json().get("files");
            for (int i = 0; i < cases.size(); i++) {
                Case one = cases.get(i);
                String problem = files.get(i).get("problem").asString("");
                List<String> told = List.of(
                        put(one, "application/yaml"),
                        put(one, "application/json"),
                        problem.isEmpty() ? readBack(ofFiles.get(i)) : path(problem, one),
                        install(sluice, one));
                String expected = one.isRefused()
                        ? PATH + one.limit
                        : Stream.of("", "null").anyMatch(one.amount::equals) ? "not limited" : one.amount;
                assertThat(told).as("%s", one).containsOnly(expected);
            }
        }
    }

    private String put(Case one, String type) {
        String project = Policies.id();
        String body = type.endsWith("json") ? one.json(project) : one.yaml(project);
        Reply reply = http.put("/v1/projects/" + project, body, "Content-Type", type);
        if (reply.status() == 200) {
            return readBack(project);
        }
        assertThat(reply.status()).isEqualTo(400);
        JsonNode problems = reply.json().get("problems");
        assertThat(problems.size()).isEqualTo(1);
        assertThat(http.get("/v1/projects/" + project).status()).isEqualTo(404);
        return problems.get(0).get("path").asString();
    }

    private String install(Sluice sluice, Case one) {
        String project = Policies.id();
        try {
            sluice.install(Policy.parse(one.yaml(project)));
        } catch (InvalidPolicyException e) {
            return path(e.getMessage(), one);
        }
        return readBack(project);
    }

    private static String path(String told, Case one) {
        String path = PATH + one.limit;
        return told.contains(path) ? path : told;
    }

    /** The one amount that is in force, in the document, and whether calls meet it. */
    private String readBack(String project) {
        JsonNode sonnet =
                http.get("/v1/projects/" + project).json().get("classes").get(0);
        JsonNode limits = sonnet.get("limits");
        JsonNode levels = http.get("/v1/projects/" + project + "/status").json().get("limits");
        List<String> scopes = levels.valueStream()
                .filter(one -> one.get("scope").asString().equals("c:sonnet"))
                .map(one -> one.get("limit").asString())
                .toList();
        Reply permit = http.post("/v1/projects/" + project + "/permits", CALL.replace("60000", "0"));
        if (limits == null || limits.isEmpty()) {
            assertThat(permit.status()).isEqualTo(201);
            assertThat(scopes).as("costs nothing").isEmpty();
            return "not limited";
        }
        String amount = limits.iterator().next().asString();
        assertThat(scopes).containsExactly(limits.propertyNames().iterator().next());
        if (amount.equals("0")) {
            Reply no = http.post("/v1/projects/" + project + "/permits", CALL);
            assertThat(no.status()).isEqualTo(422);
            assertThat(no.kind()).isEqualTo("closed");
            assertThat(no.headers()).doesNotContainKey("retry-after");
            assertThat(no.json().has("retry_after_ms")).isFalse();
        } else {
            assertThat(permit.body()).doesNotContain("closed");
        }
        return amount;
    }
}
