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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who may connect, how, and what is told to who may not. */
@Tag("contract")
@Timeout(60)
class ConnectionIT {
    /** What the documentation gives to agents. */
    private static final List<String> COMMANDS = List.of(("-@all +eval +evalsha +script|load +info +ping +hello"
                    + " +ssubscribe +sunsubscribe +spublish +time +hget +hmget +hset +hdel +hlen +hexists"
                    + " +hkeys +hgetall +hincrby +hscan +zadd +zrem +zcount +zrange +zrangebylex +zrangebyscore"
                    + " +zremrangebylex +zremrangebyscore +zscore")
            .split(" "));

    private static RedisOptions with(String user, String... may) {
        List<String> rules = new ArrayList<>(List.of("resetkeys", "resetchannels"));
        rules.addAll(List.of(may));
        rules.addAll(COMMANDS);
        return RedisOptions.DEFAULT.withUser(user, "secret-" + user, rules);
    }

    private static Sluice connected(RedisServer redis, String user) {
        return Sluice.connect(redis.uri(user, "secret-" + user));
    }

    private static void install(RedisServer redis, String project) {
        try (Sluice admin = Sluice.connect(redis.uri())) {
            admin.install(Budget.policy(project, Policy.Outage.LOCAL_SHARE, "concurrency: 1"));
        }
    }

    @Test
    void anAgentNeedsNoMoreThanTheDocumentedRights() {
        try (RedisServer redis = RedisServers.start(with("agent", "~{acme}:*", "&{acme}:*"))) {
            install(redis, "acme");
            try (Sluice agent = connected(redis, "agent")) {
                Permit permit = Budget.take(agent.project("acme"), CALL);
                var waiting = agent.project("acme")
                        .acquireAsync(CALL, Duration.ofSeconds(10))
                        .toCompletableFuture();
                permit.settle(Usage.UNKNOWN);
                assertThat(waiting.join().degraded()).isFalse();
                waiting.join().cancel();
            }
        }
    }

    @Test
    void whoLacksAKeyIsToldWhichAtTheFirstCall() {
        try (RedisServer redis = RedisServers.start(with(
                "agent",
                "~{acme}:policy",
                "~{acme}:levels",
                "~{acme}:permits",
                "~{acme}:waiters",
                "~{acme}:lines",
                "~{acme}:hosts",
                "&{acme}:*"))) {
            install(redis, "acme");
            try (Sluice agent = connected(redis, "agent")) {
                assertThatThrownBy(() -> agent.project("acme").tryAcquire(CALL))
                        .isInstanceOfSatisfying(
                                OutageException.class,
                                e -> assertThat(e.reason()).isEqualTo("noperm"))
                        .hasMessageContainingAll("key {acme}:times, key {acme}:learn")
                        .hasMessageNotContaining("levels")
                        .hasMessageNotContaining("channel");
            }
        }
    }

    /** It works without, only slower and never told why. */
    @Test
    void whoLacksTheChannelIsToldAtTheFirstCall() {
        try (RedisServer redis = RedisServers.start(with("agent", "~{acme}:*"))) {
            install(redis, "acme");
            try (Sluice agent = connected(redis, "agent")) {
                assertThatThrownBy(() -> agent.project("acme").tryAcquire(CALL))
                        .isInstanceOf(OutageException.class)
                        .hasMessageContaining("channel {acme}:h:");
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
