package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sluice.testbed.redis.Certificates;
import io.sluice.testbed.redis.RedisOptions;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code rediss://}: who is trusted is served, and nobody else is spoken to. */
@Tag("contract")
@Timeout(60)
class TlsIT {
    private static RedisServer redis;

    @BeforeAll
    static void start() {
        redis = RedisServers.start(RedisOptions.DEFAULT.withPassword("secret").withTls(Certificates.shared()));
    }

    @AfterAll
    static void stop() {
        redis.close();
    }

    @Test
    void whoTrustsTheAuthorityDrawsOnTheSameBudget() {
        String id = "tls-" + UUID.randomUUID();
        try (Sluice plain = Sluice.connect(redis.uri())) {
            plain.install(Faults.policy(id, 1));
            String store = Certificates.shared().trustStore().toString();
            try (AgentMain.Running agent = new AgentMain.Running(
                    redis.tlsUri(),
                    id,
                    1,
                    "-Djavax.net.ssl.trustStore=" + store,
                    "-Djavax.net.ssl.trustStorePassword=" + Certificates.PASSWORD)) {
                assertThat(agent).isNotNull();
                assertThat(plain.project(id).tryAcquire(Faults.CALL)).isInstanceOf(Decision.Refused.class);
            }
        }
    }

    @Test
    void anAuthorityThatIsNotTrustedIsNamedAtConnect() {
        OutageException thrown = catchThrowableOfType(
                OutageException.class, () -> Sluice.connect(redis.tlsUri()).close());
        assertThat(thrown)
                .hasMessageContainingAll("no Redis at rediss://", "unable to find valid certification path")
                .hasMessageNotContaining("secret");
    }

    @Test
    void plainTextToTheEncryptedPortIsAnErrorAtConnect() {
        OutageException thrown = catchThrowableOfType(
                OutageException.class,
                () -> Sluice.connect(redis.tlsUri().replace("rediss:", "redis:"))
                        .close());
        assertThat(thrown).hasMessageContaining("no Redis at redis://").hasMessageNotContaining("secret");
    }
}
