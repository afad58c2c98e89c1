package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sluice.Sluice.Credentials;
import io.sluice.Sluice.Options;
import io.sluice.testbed.redis.Certificates;
import io.sluice.testbed.redis.RedisOptions;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who may connect, how, and what is told to who may not. */
@Tag("contract")
@Timeout(60)
class ConnectionIT {
    /** A set-up that is wrong is no outage: under a policy of local shares nobody would ever have looked at it. */
    @Test
    void whoLacksAKeyIsToldWhichAtTheFirstCallWhateverThePolicySays() {
        List<String> rules = List.of("~{acme}:[^t]*", "&*", "+@all");
        try (RedisServer redis = RedisServers.start(RedisOptions.DEFAULT.withUser("agent", "secret", rules))) {
            try (Sluice admin = Sluice.connect(redis.uri())) {
                admin.install(Budget.policy("acme", Policy.Outage.FAIL_OPEN, "concurrency: 1"));
            }
            try (Sluice agent = Sluice.connect(redis.uri("agent", "secret"))) {
                for (int i = 0; i < 2; i++) {
                    assertThatThrownBy(() -> agent.project("acme").tryAcquire(CALL))
                            .isInstanceOfSatisfying(
                                    OutageException.class,
                                    e -> assertThat(e.reason()).isEqualTo("noperm"))
                            .hasMessageContaining("{acme}:times")
                            .hasMessageNotContaining("{acme}:levels");
                }
            }
        }
    }

    @Test
    void aPasswordIsReadAnewAtEachReconnection() {
        RedisOptions options = RedisOptions.DEFAULT.withUser("agent", "old", List.of("~*", "&*", "+@all"));
        try (RedisServer redis = RedisServers.start(options)) {
            AtomicReference<String> password = new AtomicReference<>("old");
            Options own = Options.DEFAULT.withCredentials(() -> new Credentials("agent", password.get()));
            String uri = "redis://" + redis.address() + ":" + redis.port();
            try (Sluice sluice = Sluice.connect(uri, own)) {
                sluice.install(Budget.policy("acme", Policy.Outage.FAIL_CLOSED, "concurrency: 1"));
                Budget.take(sluice.project("acme"), CALL).cancel();

                redis.command("ACL", "SETUSER", "agent", ">new", "<old");
                password.set("new");
                redis.command("CLIENT", "KILL", "USER", "agent");

                await().atMost(Duration.ofSeconds(10)).ignoreExceptions().until(() -> {
                    Budget.take(sluice.project("acme"), CALL).cancel();
                    return true;
                });
            }
            assertThat(new Credentials("agent", "new")).asString().doesNotContain("new");
            assertThatThrownBy(() ->
                            Sluice.connect(uri, Options.DEFAULT.withCredentials(() -> new Credentials("agent", "old"))))
                    .isInstanceOf(OutageException.class);
        }
    }

    /** Its connections did not close in order either, and only that was told. */
    @Test
    void whyItCannotStartIsToldAlsoToAThreadThatIsInterruptedMeanwhile() throws Exception {
        RedisOptions options =
                RedisOptions.DEFAULT.withUser("agent", "secret", List.of("~*", "&*", "+@all", "-script|load"));
        try (RedisServer redis = RedisServers.start(options)) {
            boolean interrupted = false;
            for (int i = 0; i < 50 && !interrupted; i++) {
                CompletableFuture<Boolean> told = new CompletableFuture<>();
                Thread opener = new Thread(() -> {
                    try (Sluice sluice = Sluice.connect(redis.uri("agent", "secret"))) {
                        told.completeExceptionally(new AssertionError("started: " + sluice));
                    } catch (RuntimeException e) {
                        if (e instanceof OutageException why && why.reason().equals("noperm")) {
                            told.complete(Thread.interrupted());
                        } else {
                            told.completeExceptionally(e);
                        }
                    }
                });
                opener.start();
                while (opener.isAlive() && !checks(opener)) {
                    Thread.onSpinWait();
                }
                opener.interrupt();
                interrupted = told.get(20, TimeUnit.SECONDS);
            }
            assertThat(interrupted).isTrue();
        }
    }

    /** Whether it is connected, and looks whether that Redis is fit for use. */
    private static boolean checks(Thread opener) {
        return Stream.of(opener.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("checkServer"));
    }

    @Test
    void tlsNeedsAnAuthorityThatVouches() {
        Certificates certificates = Certificates.shared();
        try (RedisServer redis = RedisServers.start(RedisOptions.DEFAULT.withTls(certificates))) {
            try (Sluice sluice =
                    Sluice.connect(redis.tlsUri(), Options.DEFAULT.withAuthority(certificates.authority()))) {
                sluice.install(Budget.policy("acme", "concurrency: 1"));
                Budget.take(sluice.project("acme"), CALL).cancel();
            }
            assertThatThrownBy(() -> Sluice.connect(redis.tlsUri()))
                    .isInstanceOf(OutageException.class)
                    .hasMessageContaining("no Redis at");
        }
    }

    @Test
    void howLongACommandMayTakeIsChosen() {
        try (RedisServer redis = RedisServers.start();
                Sluice sluice =
                        Sluice.connect(redis.uri(), Options.DEFAULT.withCommandTimeout(Duration.ofMillis(1_500)))) {
            sluice.install(Budget.policy("acme", "concurrency: 1"));
            Budget.take(sluice.project("acme"), CALL).cancel();
            redis.pause();
            long start = System.nanoTime();
            assertThatThrownBy(() -> sluice.project("acme").tryAcquire(CALL)).isInstanceOf(OutageException.class);
            assertThat(Budget.since(start)).isBetween(Duration.ofMillis(1_400), Duration.ofSeconds(6));
            redis.resume();
        }
        assertThatThrownBy(() -> Options.DEFAULT.withCommandTimeout(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
