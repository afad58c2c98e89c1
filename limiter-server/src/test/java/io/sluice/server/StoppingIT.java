package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A server that is told to stop, beside another one: a rolling restart. */
@WithRedis
class StoppingIT {
    private static final String CALL =
            "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1,\"id\":\"%s\",\"max_wait_ms\":25000}";

    @Test
    void whoWaitsIsToldAtOnceAndKeepsThePlaceAndPermitsLiveOn() throws Exception {
        Http other = Started.shared().http;
        try (Forked server = Forked.on(RedisServers.shared().uri(), "256m")) {
            String project = Policies.installed(server.http, "{concurrency: 1}");
            String at = "/v1/projects/" + project;
            String permit = server.http
                    .post(at + "/permits", CALL.formatted("first"))
                    .json()
                    .get("permit")
                    .asString();
            CompletableFuture<Reply> early = server.http.later(at + "/permits", CALL.formatted("early"));
            await().atMost(20, TimeUnit.SECONDS)
                    .until(() -> other.get(at + "/status").json().get("waiters").asInt() == 1);
            CompletableFuture<Reply> late = other.later(at + "/permits", CALL.formatted("late"));
            await().atMost(20, TimeUnit.SECONDS)
                    .until(() -> other.get(at + "/status").json().get("waiters").asInt() == 2);

            server.process.destroy(); // SIGTERM
            Reply told = early.get(10, TimeUnit.SECONDS);
            assertThat(told.status()).isEqualTo(503);
            assertThat(told.kind()).isEqualTo("outage");
            assertThat(told.header("retry-after")).isEqualTo("1");
            CompletableFuture<Reply> again = other.later(at + "/permits", CALL.formatted("early"));
            assertThat(server.process.waitFor(25, TimeUnit.SECONDS)).isTrue();

            await().atMost(20, TimeUnit.SECONDS)
                    .until(() -> other.get(at + "/status").json().get("waiters").asInt() == 2);
            assertThat(other.post(at + "/permits/" + permit + "/renew", "").status())
                    .isEqualTo(200);
            assertThat(other.post(at + "/permits/" + permit + "/settle", "{}")
                            .json()
                            .get("ended")
                            .asString())
                    .isEqualTo("settled");
            assertThat(again.get(20, TimeUnit.SECONDS).status()).isEqualTo(201);
            assertThat(late.isDone()).as("who came later waits on").isFalse();
            other.delete(at + "/permits/" + again.join().json().get("permit").asString());
            assertThat(late.get(20, TimeUnit.SECONDS).status()).isEqualTo(201);
        }
    }
}
