package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.SslOptions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers with passwords, users, certificates, and copies of others. */
@Timeout(60)
class RedisOptionsIT {

    @Test
    void aPasswordIsAskedForAndStandsInTheAddress() {
        try (RedisServer redis = RedisServers.start(RedisOptions.DEFAULT.withPassword("secret"))) {
            assertThat(redis.uri()).isEqualTo("redis://:secret@127.0.0.1:" + redis.port());
            assertThat(redis.command("PING")).isEqualTo("PONG");
            assertThatThrownBy(() -> Commands.run("redis://127.0.0.1:" + redis.port(), "PING"))
                    .hasStackTraceContaining("NOAUTH");
        }
    }

    @Test
    void aUserMayDoWhatItsRulesSayAlsoAfterARestart() {
        List<String> rules = List.of("resetchannels", "-@all", "~a:*", "+get", "(+set ~b:*)");
        try (RedisServer redis = RedisServers.start(RedisOptions.DEFAULT.withUser("agent", "secret", rules))) {
            redis.restart();
            String uri = redis.uri("agent", "secret");
            assertThat(Commands.run(uri, "GET", "a:1")).isEmpty();
            assertThat(Commands.run(uri, "SET", "b:1", "x")).isEqualTo("OK");
            assertThatThrownBy(() -> Commands.run(uri, "SET", "a:1", "x")).hasMessageContaining("NOPERM");
            assertThatThrownBy(() -> Commands.run(redis.uri("agent", "wrong"), "GET", "a:1"))
                    .hasStackTraceContaining("WRONGPASS");
            assertThat(redis.command("ACL", "WHOAMI")).isEqualTo("default");
        }
    }

    @Test
    void itHoldsNoMoreThanItMay() {
        try (RedisServer redis = RedisServers.start(RedisOptions.DEFAULT.withMaxMemory("1mb"))) {
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 100; i++) {
                            redis.command("SET", "k" + i, "x".repeat(100_000));
                        }
                    })
                    .hasMessageStartingWith("OOM");
        }
    }

    @Test
    void aCopyFollowsItsPrimary() {
        try (RedisServer primary = RedisServers.start();
                RedisServer copy = RedisServers.startProcess(RedisOptions.DEFAULT.asReplicaOf(primary))) {
            primary.command("SET", "a", "1");
            Await.until(Duration.ofSeconds(10), () -> copy.command("GET", "a").equals("1"), () -> copy.command("INFO"));
            assertThatThrownBy(() -> copy.command("SET", "a", "2")).hasMessageStartingWith("READONLY");
        }
    }

    @Test
    void tlsIsTrustedByItsOwnAuthorityOnly() {
        Certificates certificates = Certificates.shared();
        SslOptions trusting = SslOptions.builder()
                .trustManager(certificates.authority().toFile())
                .build();
        try (RedisServer redis =
                RedisServers.start(RedisOptions.DEFAULT.withPassword("secret").withTls(certificates))) {
            assertThat(redis.command("PING")).as("the plain port").isEqualTo("PONG");
            for (int starts = 0; starts < 2; starts++) {
                assertThat(ping(redis.tlsUri(), trusting)).isEqualTo("PONG");
                redis.restart();
            }
            assertThatThrownBy(() -> ping(redis.tlsUri(), SslOptions.create()))
                    .isInstanceOf(RedisException.class)
                    .hasStackTraceContaining("PKIX path");
            assertThatThrownBy(() -> ping(redis.tlsUri().replace("rediss:", "redis:"), trusting))
                    .isInstanceOf(RedisException.class);
        }
        try (RedisServer plain = RedisServers.start()) {
            assertThatThrownBy(plain::tlsUri).hasMessage("this Redis speaks no TLS");
        }
    }

    private static String ping(String uri, SslOptions ssl) {
        RedisClient client = RedisClient.create(uri);
        client.setOptions(ClientOptions.builder().sslOptions(ssl).build());
        try (var connection = client.connect()) {
            return connection.sync().ping();
        } finally {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        }
    }
}
