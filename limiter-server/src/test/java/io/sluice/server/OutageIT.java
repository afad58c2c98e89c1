package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A server whose Redis is away. */
@WithRedis(own = true)
@ExtendWith(OutputCaptureExtension.class)
class OutageIT {
    private static final String CALL = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1}";

    private final RedisServer redis;

    OutageIT(RedisServer redis) {
        this.redis = redis;
    }

    @Test
    void itStartsBeforeItsRedisSaysSoAndServesOnceThereIsOne() {
        redis.kill();
        try (Started server = Started.on(redis.uri())) {
            assertThat(server.http.get("/actuator/health/liveness").status()).isEqualTo(200);
            assertThat(server.http.get("/actuator/health/readiness").status()).isEqualTo(503);
            Reply no = server.http.post("/v1/projects/acme/permits", CALL);
            assertThat(no.status()).isEqualTo(503);
            assertThat(no.kind()).isEqualTo("outage");
            assertThat(no.header("retry-after")).isEqualTo("1");
            assertThat(server.http.get("/actuator/prometheus").body())
                    .as("what alarms go by is there before Redis ever was")
                    .contains("sluice_store_up 0.0");
            redis.restart();
            await().atMost(60, TimeUnit.SECONDS)
                    .until(() -> server.http.get("/actuator/health/readiness").status() == 200);
            String project = Policies.id();
            assertThat(server.http
                            .put(
                                    "/v1/projects/" + project,
                                    Policies.of(project, "{rpm: 600}") + "outage: fail-closed\n")
                            .status())
                    .isEqualTo(200);
            assertThat(server.http
                            .post("/v1/projects/" + project + "/permits", CALL)
                            .status())
                    .isEqualTo(201);
            assertThat(server.http.get("/actuator/prometheus").body()).contains("sluice_store_up 1.0");

            redis.kill();
            await().atMost(60, TimeUnit.SECONDS)
                    .until(() -> server.http.get("/actuator/health/readiness").status() == 503);
            assertThat(server.http
                            .post("/v1/projects/" + project + "/permits", CALL)
                            .kind())
                    .isEqualTo("outage");
            assertThat(server.http.get("/v1/projects/" + project + "/status").kind())
                    .isEqualTo("outage");
            await().atMost(30, TimeUnit.SECONDS)
                    .until(() -> server.http.get("/actuator/prometheus").body().contains("sluice_store_up 0.0"));
        }
    }

    /**
     * A Redis that takes connections and never answers: agents hung on it while all looked healthy (BerriAI/litellm#35273), what it
     * meant was an error of the server's own (Kong/kong#2382), and each call wrote a stack trace (BerriAI/litellm#40620).
     */
    @Test
    void whileRedisHangsEveryCallIsAnsweredInTimeAndFewLinesSaySo(CapturedOutput output) {
        try (Started server = Started.on(redis.uri(), "--sluice.redis-timeout=250ms")) {
            String share = Policies.installed(server.http, "{concurrency: 1000}");
            String closed = Policies.id();
            server.http.put(
                    "/v1/projects/" + closed, Policies.of(closed, "{concurrency: 1000}") + "outage: fail-closed\n");
            for (String project : new String[] {share, closed}) {
                await().atMost(20, TimeUnit.SECONDS)
                        .until(() -> server.http
                                        .post("/v1/projects/" + project + "/permits", CALL)
                                        .status()
                                == 201);
            }
            redis.pause();
            try {
                long started = System.nanoTime();
                List<CompletableFuture<Reply>> asked = new ArrayList<>();
                for (int i = 0; i < 200; i++) {
                    asked.add(server.http.later("/v1/projects/" + (i % 2 == 0 ? share : closed) + "/permits", CALL));
                }
                for (int i = 0; i < asked.size(); i++) {
                    Reply reply = asked.get(i).orTimeout(20, TimeUnit.SECONDS).join();
                    if (i % 2 == 0) {
                        assertThat(reply.status()).as(reply.body()).isEqualTo(201);
                        assertThat(reply.json().get("degraded").asBoolean()).isTrue();
                    } else {
                        assertThat(reply.status()).as(reply.body()).isEqualTo(503);
                        assertThat(reply.kind()).isEqualTo("outage");
                        assertThat(reply.json().get("reason").asString()).isIn("timeout", "breaker");
                        assertThat(reply.header("retry-after")).isEqualTo("1");
                    }
                }
                assertThat(System.nanoTime() - started)
                        .as("the time-out of 250 ms, and what a busy machine adds")
                        .isLessThan(TimeUnit.SECONDS.toNanos(4));
                assertThat(server.http.get("/actuator/health/readiness").status())
                        .isEqualTo(503);
                assertThat(server.http.get("/actuator/health/liveness").status())
                        .isEqualTo(200);
                assertThat(server.http.get("/actuator/prometheus").body())
                        .contains("sluice_degraded{project=\"" + share + "\"} 1.0");
            } finally {
                redis.resume();
            }
            for (String project : new String[] {share, closed}) {
                await().atMost(20, TimeUnit.SECONDS).until(() -> {
                    Reply reply = server.http.post("/v1/projects/" + project + "/permits", CALL);
                    return reply.status() == 201
                            && !reply.json().get("degraded").asBoolean();
                });
            }
            assertThat(output.getAll().lines().filter(line -> line.contains(" WARN ") || line.contains(" ERROR ")))
                    .as("a line for each change of state, none for a call")
                    .hasSizeLessThan(20);
            assertThat(output.getAll()).doesNotContain("\tat io.sluice");
        }
    }
}
