package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sluice.redis.Levels;
import io.sluice.testbed.redis.Ailments;
import io.sluice.testbed.redis.Ailments.Ailment;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.UUID;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever ails Redis, calls meet what the policy says, it is told once, and it is over when Redis is well. */
@SuppressWarnings("try") // what ails Redis ends with its block and is not spoken to
@WithRedis(own = true)
@Tag("contract")
@Timeout(60)
class OutagePoliciesIT {
    private static final String LIMITS =
            "concurrency: 100, calls: {amount: 1000, per: day, window: calendar, zone: UTC, of: requests}";

    private final RedisServer redis;
    private final String id = "t-" + UUID.randomUUID();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Sluice sluice;
    private final Project project;

    OutagePoliciesIT(RedisServer redis) {
        this.redis = redis;
        this.sluice = Sluice.connect(redis.uri(), Sluice.Options.DEFAULT.withMeters(meters));
        this.project = sluice.project(id);
    }

    @AfterEach
    void close() {
        sluice.close();
    }

    private void install(Policy.Outage outage, String limits) {
        install(outage, limits, "1s");
    }

    private void install(Policy.Outage outage, String limits, String lease) {
        sluice.install(Budget.policy(id, outage, limits, lease));
        Budget.take(project, CALL).cancel();
        if (outage == Policy.Outage.LOCAL_SHARE) {
            soon().until(() -> ((ProjectClient) project).share().hosts() == 1);
        }
    }

    private Levels levels() {
        return Levels.of(redis.uri(), id, "c:m");
    }

    private static ConditionFactory soon() {
        return await().pollInterval(Duration.ofMillis(50)).atMost(Duration.ofSeconds(15));
    }

    private double degraded() {
        return meters.get("sluice.degraded").tag("project", id).gauge().value();
    }

    private double outages(String reason) {
        return meters.get("sluice.outages").tag("reason", reason).counter().count();
    }

    private Ailment ailment(String reason) {
        return switch (reason) {
            case "oom" -> Ailments.outOfMemory(redis);
            case "readonly" -> Ailments.replica(redis);
            case "masterdown" -> Ailments.replicaWithoutData(redis);
            case "noreplicas" -> Ailments.withoutReplicas(redis);
            case "busy" -> Ailments.busy(redis);
            default -> throw new AssertionError(reason);
        };
    }

    /** A "no" that takes nothing and comes at once. */
    @ParameterizedTest
    @ValueSource(strings = {"oom", "readonly", "masterdown", "noreplicas", "busy"})
    void eachNoOfRedisIsAnOutageOfThatName(String reason) {
        install(Policy.Outage.LOCAL_SHARE, "concurrency: 100");
        Permit before = Budget.take(project, CALL);
        Permit during;
        try (Logged logged = new Logged()) {
            try (Ailment ailment = ailment(reason)) {
                during = Budget.take(project, CALL);
                assertThat(during.degraded()).isTrue();
                for (int i = 0; i < 5; i++) {
                    Budget.take(project, CALL).cancel();
                }
                assertThat(degraded()).isEqualTo(1);
                assertThat(before.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
            }
            soon().until(() -> !Budget.take(project, CALL).degraded());
            assertThat(degraded()).isZero();
            assertThat(logged.lines(id, "Redis is out (" + reason + ")")).hasSize(1);
            assertThat(logged.lines(id, "Redis answers again")).hasSize(1);
            assertThat(outages(reason)).isGreaterThanOrEqualTo(6);
        }
        during.settle(Usage.UNKNOWN);
    }

    /** Another service admitted all 100 of 100 calls against a limit of 3, and nobody had asked for that. */
    @Test
    void failOpenAdmitsAllAndBooksAll() {
        install(Policy.Outage.FAIL_OPEN, LIMITS);
        long before = levels().left().get("calls");
        redis.pause();
        try {
            for (int i = 0; i < 120; i++) {
                Permit permit = Budget.take(project, CALL);
                assertThat(permit.degraded()).isTrue();
                permit.settle(Usage.UNKNOWN);
            }
        } finally {
            redis.resume();
        }
        soon().until(() -> levels().left().get("calls") == before - 120 && levels().used() == 0);
        soon().until(() -> degraded() == 0);
    }

    @Test
    void failClosedRefusesAllAndCostsNothingOnceItIsKnown() {
        install(Policy.Outage.FAIL_CLOSED, LIMITS);
        redis.pause();
        try {
            soon().until(() -> catchThrowableOfType(OutageException.class, () -> project.tryAcquire(CALL))
                    .reason()
                    .equals("breaker"));
            // Not even now and then as the one that finds out whether Redis is back.
            long start = System.nanoTime();
            int slow = 0;
            while (Budget.since(start).toMillis() < 2_000) {
                long one = System.nanoTime();
                assertThat(catchThrowableOfType(OutageException.class, () -> project.tryAcquire(CALL))
                                .reason())
                        .isEqualTo("breaker");
                slow += Budget.since(one).toMillis() < 200 ? 0 : 1;
            }
            assertThat(slow).as("a busy machine's, not four of them").isLessThan(3);
            assertThat(meters.get("sluice.store.up").gauge().value()).isZero();
        } finally {
            redis.resume();
        }
        soon().until(() -> meters.get("sluice.store.up").gauge().value() == 1);
        Budget.take(project, CALL).cancel();
    }

    /** The reply was lost, the script ran, and meanwhile the caller was let through by the fallback (redis/lettuce#1426). */
    @Test
    void aGhostAndItsFallbackAreOneCharge() throws Exception {
        install(Policy.Outage.FAIL_OPEN, LIMITS);
        long before = levels().left().get("calls");
        Permit given;
        try (Ailment stalled = Ailments.stalled(redis, Duration.ofMillis(1_500))) {
            given = project.acquire(CALL.id("r1"), Duration.ZERO);
            assertThat(given.degraded()).isTrue();
            assertThat(project.acquire(CALL.id("r1"), Duration.ZERO)).isSameAs(given);
            await().pollDelay(Duration.ofMillis(1_400)).until(() -> true);
        }
        soon().until(() -> levels().used() == 1 && levels().left().get("calls") == before - 1);
        given.settle(Usage.UNKNOWN);
        soon().until(() -> levels().used() == 0 && levels().left().get("calls") == before - 1);
    }

    @Test
    void oneSlowReplyIsNoOutage() {
        install(Policy.Outage.LOCAL_SHARE, "concurrency: 100");
        try (Logged logged = new Logged()) {
            for (int i = 0; i < 3; i++) {
                try (Ailment asleep = Ailments.asleep(redis, Duration.ofMillis(400))) {
                    Budget.take(project, CALL).cancel();
                }
                Permit next = Budget.take(project, CALL);
                assertThat(next.degraded()).isFalse();
                next.cancel();
            }
            assertThat(logged.lines("Redis is out")).isEmpty();
            assertThat(meters.get("sluice.store.up").gauge().value()).isEqualTo(1);
        }
    }

    /** Redis comes back with nothing in it: whoever runs is counted again, and no second budget is given. */
    @Test
    void anEmptyRedisCountsThoseThatRunAgain() {
        // Longer than it takes to restart, in a container too.
        install(Policy.Outage.LOCAL_SHARE, "concurrency: 3, " + LIMITS.substring(LIMITS.indexOf("calls")), "15s");
        Permit one = Budget.take(project, CALL);
        Permit two = Budget.take(project, CALL);
        redis.restartEmpty();
        soon().until(() -> {
            try {
                // While Redis starts there may be a permit to be had without it, which would be a third.
                if (project.tryAcquire(CALL) instanceof Decision.Granted granted) {
                    granted.permit().cancel();
                }
                return levels().used() == 2;
            } catch (OutageException | AssertionError notYet) {
                return false;
            }
        });
        assertThat(levels().left().get("calls")).isZero();
        assertThat(one.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
        assertThat(two.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
        soon().until(() -> levels().used() == 0);
    }

    /** Slots stayed taken after each rollout (ding113/claude-code-hub#1178). */
    @Test
    void whoClosesDuringAnOutageIsBackInTime() {
        install(Policy.Outage.LOCAL_SHARE, "concurrency: 100");
        Permit running = Budget.take(project, CALL);
        Permit open = Budget.take(project, CALL);
        redis.pause();
        try {
            soon().until(() -> Budget.take(project, CALL).degraded());
            running.settle(Usage.UNKNOWN);
            long start = System.nanoTime();
            sluice.close();
            assertThat(Budget.since(start)).as("2 s, and some to disconnect").isLessThan(Duration.ofSeconds(5));
            assertThat(open.settle(Usage.UNKNOWN).already()).isTrue();
        } finally {
            redis.resume();
        }
    }
}
