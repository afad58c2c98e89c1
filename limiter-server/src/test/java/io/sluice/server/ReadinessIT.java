package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.Ailments;
import io.sluice.testbed.redis.Ailments.Ailment;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Who is sent calls: a server whose Redis answers and takes writes. One whose Redis does not lives on all the same. */
@WithRedis(own = true)
class ReadinessIT {
    private static final String CALL = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1}";

    private final RedisServer redis;

    ReadinessIT(RedisServer redis) {
        this.redis = redis;
    }

    @Test
    void aRedisThatTakesNoWritesMakesAServerUnready() {
        try (Started server = Started.on(redis.uri())) {
            assertThat(ready(server).status()).isEqualTo(200);
            isUnready(server, "readonly", () -> Ailments.replica(redis));
            isUnready(server, "misconf", () -> Ailments.cannotSave(redis));
            isUnready(server, "noreplicas", () -> Ailments.withoutReplicas(redis));
        }
    }

    /** What runs is still settled there: a server that nobody reaches could not do that. */
    @Test
    void aRedisThatIsFullLeavesItReady() {
        try (Started server = Started.on(redis.uri())) {
            String project = Policies.installed(server.http, "{rpm: 600}");
            String permits = "/v1/projects/" + project + "/permits";
            String permit = server.http.post(permits, CALL).json().get("permit").asString();
            try (Ailment full = Ailments.outOfMemory(redis)) {
                assertThat(full).isNotNull();
                assertThat(ready(server).status()).isEqualTo(200);
                assertThat(server.http
                                .post(permits + "/" + permit + "/settle", "{}")
                                .status())
                        .isEqualTo(200);
            }
        }
    }

    @Test
    void aUserThatMayNotWriteTheIndexMakesItUnready() {
        redis.command("ACL", "SETUSER", "server", "on", ">secret", "~*", "&*", "+@all");
        try (Started server = Started.on(redis.uri("server", "secret"))) {
            isUnready(server, "noperm", () -> {
                redis.command("ACL", "SETUSER", "server", "resetkeys", "%R~*");
                return () -> redis.command("ACL", "SETUSER", "server", "~*");
            });
        }
    }

    /** Asked at each probe of each server: it may cost Redis no write, nor its replicas one. */
    @Test
    void askingWritesNothing() {
        try (Started server = Started.on(redis.uri())) {
            String before = written();
            for (int i = 0; i < 20; i++) {
                assertThat(ready(server).status()).isEqualTo(200);
            }
            assertThat(written()).isEqualTo(before);
        }
    }

    private String written() {
        return redis.command("INFO", "persistence")
                .lines()
                .filter(line -> line.startsWith("rdb_changes_since_last_save"))
                .findFirst()
                .orElseThrow();
    }

    private static void isUnready(Started server, String reason, Supplier<Ailment> cause) {
        try (Ailment ailment = cause.get()) {
            assertThat(ailment).isNotNull();
            await().atMost(30, TimeUnit.SECONDS).untilAsserted(() -> {
                Reply reply = ready(server);
                assertThat(reply.status()).isEqualTo(503);
                assertThat(reply.json().at("/components/redis/details/reason").asString())
                        .isEqualTo(reason);
            });
            assertThat(server.http.get("/actuator/health/liveness").status())
                    .as("it lives: a restart would mend nothing")
                    .isEqualTo(200);
        }
        await().atMost(30, TimeUnit.SECONDS).until(() -> ready(server).status() == 200);
    }

    private static Reply ready(Started server) {
        return server.http.get("/actuator/health/readiness");
    }
}
