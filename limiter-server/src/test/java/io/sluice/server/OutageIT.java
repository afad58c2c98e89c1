package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A server whose Redis is away. */
@WithRedis(own = true)
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
}
