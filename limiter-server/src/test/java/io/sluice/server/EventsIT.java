package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.WithRedis;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What happens in a project is told as it happens; what nobody should do is counted. */
@Tag("contract")
@WithRedis
class EventsIT {
    private static final String CALL =
            "\"model\":\"claude-sonnet-5-5\",\"input_tokens\":100,\"agent\":\"ann\",\"team\":\"research\"";

    private final Http http = Started.shared().http;
    private final String project = Policies.installed(http, "{concurrency: 1}");
    private final String at = "/v1/projects/" + project;

    private static JsonNode first(Http.Events events, String type) {
        await().atMost(15, TimeUnit.SECONDS).until(() -> !events.named(type).isEmpty());
        return events.named(type).get(0);
    }

    @Test
    void aWaitIsToldWithWhatItWaitsFor() {
        try (Http.Events events = http.events("GET", at + "/events", null)) {
            http.post(at + "/permits", "{" + CALL + "}");
            http.later(at + "/permits", "{" + CALL + ",\"id\":\"w\",\"max_wait_ms\":20000}");

            JsonNode wait = first(events, "wait");
            assertThat(wait.get("at").asString()).matches("\\d{4}-.*T.*Z");
            assertThat(wait.get("outcome").asString()).isEqualTo("waiting");
            assertThat(wait.get("id").asString()).isEqualTo("w");
            assertThat(wait.get("agent").asString()).isEqualTo("ann");
            assertThat(wait.get("team").asString()).isEqualTo("research");
            assertThat(wait.get("scope").asString()).isEqualTo("c:sonnet");
            assertThat(wait.get("limit").asString()).isEqualTo("concurrency");
            assertThat(wait.get("position").asInt()).isEqualTo(1);
            assertThat(wait.get("wait_ms").asLong()).isPositive();
            http.delete(at + "/waits/w?agent=ann");
        }
    }

    @Test
    void theProvidersNoIsToldWithItsKind() {
        try (Http.Events events = http.events("GET", at + "/events", null)) {
            String permit = http.post(at + "/permits", "{" + CALL + "}")
                    .json()
                    .get("permit")
                    .asString();
            http.post(at + "/permits/" + permit + "/settle", """
                    {"status": 429, "headers": {"retry-after": "1"},
                     "body": "{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"rate_limit_error\\",\\"message\\":\\"slow down\\"}}"}
                    """);

            JsonNode rejection = first(events, "rejection");
            assertThat(rejection.get("outcome").asString()).isEqualTo("rejected");
            assertThat(rejection.get("kind").asString()).isEqualTo("requests");
            assertThat(rejection.get("scope").asString()).isEqualTo("class");
            assertThat(rejection.get("retryable").asBoolean()).isTrue();
            assertThat(rejection.get("agent").asString()).isEqualTo("ann");
            assertThat(first(events, "hold").get("scope").asString()).isEqualTo("c:sonnet");
        }
    }

    @Test
    void aSettleForAPermitThatNobodyKnowsIsCounted() {
        String neverGiven = "A".repeat(22) + "eA";
        String noName = "what";
        int settles = 0;
        for (String permit : new String[] {neverGiven, noName}) {
            Reply unknown = http.post(at + "/permits/" + permit + "/settle", "{}");
            assertThat(unknown.status()).isEqualTo(404);
            assertThat(unknown.kind()).isEqualTo("unknown");
            settles++;
            String counted = "sluice_rare_total{event=\"unknown\",project=\"" + project + "\"} " + settles + ".0";
            await().atMost(15, TimeUnit.SECONDS)
                    .until(() -> http.get("/actuator/prometheus").body().contains(counted));
        }
    }
}
