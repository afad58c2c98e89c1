package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
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
        // Sentinel cuts the connections of a node whose role it changes, ours too if it came early: so more than one
        // try.
        Await.until(Duration.ofSeconds(10), () -> keepsData(sentinel.uri()), () -> "the new primary's data");

        primary.restart();
        Await.until(
                Duration.ofSeconds(15),
                () -> primary.command("ROLE").startsWith("slave"),
                () -> "the old primary as a replica: " + primary.command("ROLE"));
    }

    private static boolean keepsData(String uri) {
        RedisClient client = RedisClient.create(uri);
        try (var connection = client.connect()) {
            boolean kept = "1".equals(connection.sync().get("a"));
            connection.sync().set("b", "written");
            return kept;
        } catch (RedisException e) {
            return false;
        } finally {
            client.shutdown();
        }
    }
}
