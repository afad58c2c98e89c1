package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.Ailments;
import io.sluice.testbed.redis.Ailments.Ailment;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What a server knows and Redis does not yet, when it is told to stop: each rolling restart would lose it. */
@WithRedis(own = true)
class LastWordsIT {
    private static final String CALL =
            "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":100,\"agent\":\"a-17\",\"id\":\"%s\",\"max_wait_ms\":25000%s}";

    private final RedisServer redis;

    LastWordsIT(RedisServer redis) {
        this.redis = redis;
    }

    @Test
    void whatWasUsedInTheLastMomentIsTold() {
        try (Started other = Started.on(redis.uri())) {
            String at = "/v1/projects/" + Policies.installed(other.http, "{rpm: 600}");
            try (Started going = Started.on(redis.uri())) {
                String permits = at + "/permits";
                String permit = going.http
                        .post(permits, CALL.formatted("last", ""))
                        .json()
                        .get("permit")
                        .asString();
                Reply settled = going.http.post(
                        permits + "/" + permit + "/settle", "{\"usage\":{\"input_tokens\":80,\"output_tokens\":7}}");
                assertThat(settled.status()).isEqualTo(200);
            }
            JsonNode rows = other.http.get(at + "/usage?by=agent").json().get("rows");
            assertThat(rows).as(rows.toString()).hasSize(1);
            assertThat(rows.get(0).get("name").asString()).isEqualTo("a-17");
            assertThat(rows.get(0).get("requests").asInt()).isEqualTo(1);
            assertThat(rows.get(0).get("input_tokens").asInt()).isEqualTo(80);
            assertThat(rows.get(0).get("output_tokens").asInt()).isEqualTo(7);
        }
    }

    /** The place of a call whose host is merely gone goes with its lease; one that is told of is kept for 30 s. */
    @Test
    void placesAreKeptThoughRedisIsSlowToHearOfThem() throws Exception {
        try (Started other = Started.on(redis.uri())) {
            String project = Policies.id();
            String at = "/v1/projects/" + project;
            assertThat(other.http
                            .put(
                                    at,
                                    Policies.of(project, "{concurrency: 1}") + "lease: 5s\n",
                                    "Content-Type",
                                    "application/yaml")
                            .status())
                    .isEqualTo(200);
            String permits = at + "/permits";
            other.http.post(permits, CALL.formatted("running", ",\"lease_ms\":900000"));
            Started going = Started.on(redis.uri());
            CompletableFuture<Reply> early = going.http.later(permits, CALL.formatted("early", ""));
            waiters(other, at, 1);
            other.http.later(permits, CALL.formatted("late", ""));
            waiters(other, at, 2);
            try (Ailment stalled = Ailments.stalled(redis, Duration.ofSeconds(3))) {
                assertThat(stalled).isNotNull();
                going.close();
            }
            assertThat(early.get(1, TimeUnit.SECONDS).status()).isEqualTo(503);
            waiters(other, at, 1); // kept without a waiter, or lost

            other.http.later(permits, CALL.formatted("early", ""));
            waiters(other, at, 2);
            List<String> line = other.http
                    .get(at + "/status")
                    .json()
                    .get("waiting")
                    .valueStream()
                    .map(waiting -> waiting.get("position").asInt() + " "
                            + waiting.get("id").asString())
                    .sorted()
                    .toList();
            assertThat(line).containsExactly("1 early", "2 late");
        }
    }

    private static void waiters(Started server, String at, int number) {
        await().atMost(20, TimeUnit.SECONDS)
                .until(() ->
                        server.http.get(at + "/status").json().get("waiters").asInt() == number);
    }
}
