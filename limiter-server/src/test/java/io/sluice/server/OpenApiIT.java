package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The description of the API says of every call what it is really answered with. */
@WithRedis
class OpenApiIT {
    private static final String P = "/v1/projects/{project}";

    /** What {@code docs/server.md} promises: how each call is answered when it succeeds, then the other answers it has of its own. */
    private static final Map<String, String> PROMISED = promised();

    private static Map<String, String> promised() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("put " + P, "200 | 400 409 412");
        all.put("get /v1/projects", "200");
        all.put("get " + P, "200 | 404");
        all.put("get " + P + "/versions", "200 | 404");
        all.put("get " + P + "/versions/{version}", "200 | 404");
        all.put("post " + P + "/rollback", "200 | 404 409");
        all.put("delete " + P, "204 | 409");
        all.put("post " + P + "/permits", "200 201 | 400 403 409 422 429 503");
        all.put("post " + P + "/permits/{permit}/settle", "200 | 400 404");
        all.put("post " + P + "/permits/{permit}/renew", "200 | 410");
        all.put("delete " + P + "/permits/{permit}", "200 | 404");
        all.put("delete " + P + "/waits/{id}", "204 | 404");
        all.put("post " + P + "/hold", "200 | 400");
        all.put("delete " + P + "/hold", "200");
        all.put("post /v1/hold", "200 | 400");
        all.put("delete /v1/hold", "200");
        all.put("post " + P + "/levels", "200 | 400 422");
        all.put("get " + P + "/status", "200 | 404 503");
        all.put("get " + P + "/usage", "200 | 400 404");
        all.put("get " + P + "/events", "200 | 404");
        all.put("get " + P + "/plan", "200 | 404 422");
        all.put("post /v1/login", "204 | 400 401 429");
        all.put("delete /v1/login", "204");
        all.put("get /v1/me", "200 | 401");
        return all;
    }

    @Test
    void everyCallIsDescribedWithTheAnswersItHas() {
        JsonNode paths = Started.shared().http.get("/v3/api-docs").json().path("paths");
        Map<String, JsonNode> described = new TreeMap<>();
        paths.properties()
                .forEach(path -> path.getValue()
                        .properties()
                        .forEach(call -> described.put(
                                call.getKey() + " " + path.getKey(),
                                call.getValue().path("responses"))));

        assertThat(described.keySet()).containsExactlyInAnyOrderElementsOf(PROMISED.keySet());
        described.forEach((call, answers) -> {
            String[] promised = PROMISED.get(call).split(" \\| ", -1);
            List<String> statuses = new ArrayList<>(answers.propertyNames());
            assertThat(statuses.stream().filter(status -> status.startsWith("2")))
                    .as(call)
                    .containsExactlyInAnyOrder(promised[0].split(" ", -1));
            if (promised.length > 1) {
                assertThat(statuses).as(call).contains(promised[1].split(" ", -1));
            }
            statuses.stream()
                    .filter(status -> !status.startsWith("2"))
                    .forEach(status -> assertThat(
                                    answers.at("/" + status + "/content/application~1problem+json/schema/$ref")
                                            .asString())
                            .as(call + " " + status)
                            .endsWith("/Problem"));
            assertThat(answers.path("204").has("content")).as(call).isFalse();
        });
    }

    /** One of each, so that the table is not only about itself. */
    @Test
    void callsAreAnsweredAsTheTableSays() {
        Http http = Started.shared().http;
        String project = Policies.installed(http, "{rpm: 600}");
        String at = "/v1/projects/" + project;
        String permits = at + "/permits";
        String call = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1,\"id\":\"one\"}";

        Http.Reply granted = http.post(permits, call);
        assertThat(granted.status()).isEqualTo(201);
        assertThat(http.post(permits, call).status()).isEqualTo(200);
        String permit = permits + "/" + granted.json().get("permit").asString();
        assertThat(http.post(permit + "/renew", "").status()).isEqualTo(200);
        assertThat(http.delete(at).status()).as("a permit lives").isEqualTo(409);
        assertThat(http.post(permit + "/settle", "{}").status()).isEqualTo(200);
        assertThat(http.post(permit + "/renew", "").status()).isEqualTo(410);
        assertThat(http.delete(permits + "/nobodys").status()).isEqualTo(404);
        assertThat(http.delete(at + "/waits/nobodys").status()).isEqualTo(404);
        assertThat(http.post(at + "/hold", "{\"reason\":\"lunch\"}").status()).isEqualTo(200);
        assertThat(http.delete(at + "/hold").status()).isEqualTo(200);
        assertThat(http.post(at + "/levels", "{\"limit\":\"rpm\",\"to\":5,\"reason\":\"a test\"}")
                        .status())
                .isEqualTo(200);
        assertThat(http.post(at + "/levels", "{\"limit\":\"none\",\"to\":5,\"reason\":\"a test\"}")
                        .status())
                .isEqualTo(422);
        assertThat(http.get(at + "/plan?class=none").status()).isEqualTo(422);
        assertThat(http.delete(at + "?drain=true").status()).isEqualTo(204);
        assertThat(http.get(at).status()).isEqualTo(404);
    }

    @Test
    void whoOnlyAsksWhetherThePageIsThereIsToldSo() {
        Http http = Started.shared().http;
        assertThat(http.send("HEAD", "/", null).status()).isEqualTo(200);
        assertThat(http.send("HEAD", "/", null).header("content-type")).startsWith("text/html");
        assertThat(http.get("/", "Accept", "application/json").body()).contains("<html");
    }
}
