package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RedisSentinelIT {

    @Test
    @WithSentinel
    void theReplicaTakesOverWhenThePrimaryIsKilled(RedisSentinel sentinel) {
        RedisServer primary = sentinel.primary();
        RedisServer replica = sentinel.replica();
        assertThat(primary).isNotSameAs(replica);
        primary.command("SET", "a", "1");
        Await.until(Duration.ofSeconds(5), () -> replica.command("GET", "a").equals("1"), () -> "the replica's copy");

        primary.kill();

        assertThat(sentinel.awaitFailover(primary)).isSameAs(replica).isSameAs(sentinel.primary());
        assertThat(sentinel.replica()).isSameAs(primary);
        RedisClient client = RedisClient.create(sentinel.uri());
        try (var connection = client.connect()) {
            assertThat(connection.sync().get("a")).isEqualTo("1");
            connection.sync().set("a", "2");
        } finally {
            client.shutdown();
        }

        primary.restart();
        Await.until(
                Duration.ofSeconds(15),
                () -> primary.command("ROLE").startsWith("slave"),
                () -> "the old primary as a replica: " + primary.command("ROLE"));
    }
}
