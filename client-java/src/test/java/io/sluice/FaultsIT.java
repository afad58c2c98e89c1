package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Agents and Redis in trouble: processes killed and paused, a Redis that flushes, stalls, restarts, fills up. */
@WithRedis(own = true)
class FaultsIT {
    private static final int SLOTS = 4;

    private final RedisServer redis;
    private final String id = "f-" + UUID.randomUUID();
    private Sluice sluice;
    private Project project;

    FaultsIT(RedisServer redis) {
        this.redis = redis;
    }

    @BeforeEach
    void connect() {
        sluice = Sluice.connect(redis.uri());
        sluice.install(Faults.policy(id, SLOTS));
        project = sluice.project(id);
    }

    @AfterEach
    void close() {
        sluice.close();
    }

    private Permit granted() {
        return ((Decision.Granted) project.tryAcquire(Faults.CALL)).permit();
    }

    // ---- agents

    /** The limit held once a process: BerriAI/litellm#16011, celery/celery#5732. */
    @Test
    void severalProcessesDrawOnOneBudget() {
        try (AgentMain.Running one = new AgentMain.Running(redis.uri(), id, SLOTS / 2);
                AgentMain.Running other = new AgentMain.Running(redis.uri(), id, SLOTS / 2)) {
            assertThat(one).isNotSameAs(other);
            assertThat(project.tryAcquire(Faults.CALL)).isInstanceOf(Decision.Refused.class);
            assertThat(Charged.of(redis, id)).isEqualTo(SLOTS);
        }
    }

    @Test
    void aKilledAgentsSlotsComeBackWithinOneLeaseAndItsTokensStayCharged() throws Exception {
        try (AgentMain.Running agent = new AgentMain.Running(redis.uri(), id, SLOTS)) {
            assertThat(project.tryAcquire(Faults.CALL)).isInstanceOf(Decision.Refused.class);
            agent.kill();
            long killed = System.nanoTime();
            await().atMost(Duration.ofSeconds(5)).until(() -> Faults.allSlotsFree(project, SLOTS));
            assertThat(Duration.ofNanos(System.nanoTime() - killed)).isLessThan(Duration.ofMillis(2_500));
        }
        assertThat(Charged.of(redis, id)).isEqualTo(SLOTS);
    }

    /** A delayed heartbeat pushed the newcomer out: dpep/berater_rb#28, brendanlong/lion-reader#917. */
    @Test
    void aPausedAgentLosesItsLeaseIsToldAndBooksOnce() throws Exception {
        try (AgentMain.Running agent = new AgentMain.Running(redis.uri(), id, SLOTS)) {
            agent.signal("STOP");
            Permit[] mine = new Permit[SLOTS];
            for (int i = 0; i < SLOTS; i++) {
                mine[i] = project.acquire(Faults.CALL, Duration.ofSeconds(5));
            }
            agent.signal("CONT");
            for (int i = 0; i < SLOTS; i++) {
                agent.expect("lost");
            }
            agent.tellToSettle();
            agent.expect("EXPIRED");
            assertThat(project.tryAcquire(Faults.CALL)).as("the slots are ours").isInstanceOf(Decision.Refused.class);
            for (Permit permit : mine) {
                assertThat(permit.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
            }
            assertThat(Faults.allSlotsFree(project, SLOTS)).isTrue();
        }
    }

    @Test
    void aPermitOutlivesManyLeases() {
        Permit permit = granted();
        CompletableFuture<Void> lost = new CompletableFuture<>();
        permit.onLost(() -> lost.complete(null));
        assertThatThrownBy(() -> lost.get(5_000, TimeUnit.MILLISECONDS))
                .isInstanceOf(java.util.concurrent.TimeoutException.class);
        assertThat(permit.settle(Usage.UNKNOWN).already()).isFalse();
    }

    // ---- Redis

    /** Scripts loaded once at start failed after a flush: gravitee-io/gravitee-api-management#17370. */
    @Test
    void flushingTheScriptsUnderLoadReachesNoCaller() throws Exception {
        long pairs;
        // About scripts, not about time: a busy machine may take its own.
        try (Sluice patient =
                Sluice.connect(redis.uri(), Sluice.Options.DEFAULT.withCommandTimeout(Duration.ofSeconds(5)))) {
            pairs = Faults.load(patient.project(id), 8, () -> {
                for (int i = 0; i < 100; i++) {
                    redis.command("SCRIPT", "FLUSH");
                }
            });
        }
        assertThat(pairs).isPositive();
        assertThat(Charged.of(redis, id)).isEqualTo(pairs);
        assertThat(Faults.allSlotsFree(project, SLOTS)).isTrue();
    }

    /** A command that timed out ran all the same: redis/lettuce#1426. */
    @Test
    void aReplyThatNeverComesChargesNobodyTwice() {
        redis.command("CLIENT", "PAUSE", "1500", "ALL");
        assertThatThrownBy(() -> project.tryAcquire(Faults.CALL.id("r1")))
                .isInstanceOfSatisfying(
                        OutageException.class, e -> assertThat(e.reason()).isIn("timeout", "breaker"));
        await().atMost(Duration.ofSeconds(10)).ignoreExceptions().until(() -> Faults.allSlotsFree(project, SLOTS));
        assertThat(Charged.of(redis, id)).isZero();
    }

    @Test
    void aRedisThatComesBackEmptyIsMendedWithoutASecondBudget() {
        granted();
        redis.restart();
        await().atMost(Duration.ofSeconds(10)).ignoreExceptions().until(() -> {
            Decision decision = project.tryAcquire(Faults.CALL);
            return decision instanceof Decision.Refused refused
                    && "charged".equals(refused.refusal().limit());
        });
        assertThat(sluice.installed(id).version()).isEqualTo(1);
    }

    /** A demoted primary kept failing for ever: redis/lettuce#1244. */
    @Test
    void aReplicaIsAnOutageUntilItIsPrimaryAgain() {
        redis.command("REPLICAOF", "127.0.0.1", "1");
        assertThatThrownBy(() -> project.tryAcquire(Faults.CALL))
                .isInstanceOfSatisfying(
                        OutageException.class, e -> assertThat(e.reason()).isEqualTo("readonly"));
        redis.command("REPLICAOF", "NO", "ONE");
        await().atMost(Duration.ofSeconds(10)).ignoreExceptions().until(() -> Faults.allSlotsFree(project, SLOTS));
    }

    @Test
    void aFullRedisGrantsNothingAndStillTakesPermitsBack() {
        Permit settled = granted();
        Permit cancelled = granted();
        redis.command("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThatThrownBy(() -> project.tryAcquire(Faults.CALL))
                    .isInstanceOfSatisfying(
                            OutageException.class, e -> assertThat(e.reason()).isEqualTo("oom"));
            assertThat(settled.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
            assertThat(cancelled.cancel().ended()).isEqualTo(Permit.How.CANCELLED);
        } finally {
            redis.command("CONFIG", "SET", "maxmemory", "0");
        }
        await().atMost(Duration.ofSeconds(10)).ignoreExceptions().until(() -> Faults.allSlotsFree(project, SLOTS));
    }
}
