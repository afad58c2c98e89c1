package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sluice.Permit.Ending;
import io.sluice.Permit.How;
import io.sluice.redis.Levels;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A process that ends in order leaves no slot in use: not for a moment, and not for the lease, which is long here. With a fleet
 * every rollout would else begin with its own slots taken (ding113/claude-code-hub#1178, curie-eng/curie#1570).
 */
@WithRedis
@Timeout(60)
class ClosingIT {
    private static final int PROCESSES = 20;
    private static final int CALLS = 5;
    private static final int SLOTS = PROCESSES * CALLS;
    private static final String LIMITS = "concurrency: " + SLOTS + ", " + Budget.THOUSAND;

    private final RedisServer redis;

    ClosingIT(RedisServer redis) {
        this.redis = redis;
    }

    private Budget budget(String limits) {
        Budget budget = Budget.of(redis, limits);
        budget.installWithALongLease(limits);
        return budget;
    }

    /** The clients of twenty processes, in one; whole processes are below. */
    @Test
    void aRollingRestartUnderFullLoadNeverFindsItsOwnSlotsTaken() {
        try (Budget watching = budget(LIMITS)) {
            List<Sluice> old = new ArrayList<>();
            for (int i = 0; i < PROCESSES; i++) {
                old.add(filled(watching.id));
            }
            assertThat(watching.levels().used()).isEqualTo(SLOTS);

            List<Sluice> young = new ArrayList<>();
            for (Sluice one : old) {
                one.close();
                assertThat(watching.levels().used()).isEqualTo(SLOTS - CALLS);
                young.add(filled(watching.id));
            }
            young.forEach(Sluice::close);

            assertThat(watching.levels().used()).isZero();
            assertThat(watching.levels().left().get("calls"))
                    .as("what was reserved stays charged")
                    .isEqualTo(1_000 - 2 * SLOTS);
        }
    }

    /** A process with permits for as many calls as it makes. */
    private Sluice filled(String project) {
        Sluice sluice = Sluice.connect(redis.uri());
        for (int i = 0; i < CALLS; i++) {
            Budget.take(sluice.project(project), CALL);
        }
        return sluice;
    }

    @Test
    void aProcessThatIsToldToStopFreesItsSlotsBeforeItIsGone() throws Exception {
        String id = "stop-" + UUID.randomUUID();
        try (Sluice watching = Sluice.connect(redis.uri())) {
            watching.install(Faults.policy(id, CALLS, "15m"));
            try (AgentMain.Running agent = new AgentMain.Running(redis.uri(), id, CALLS)) {
                assertThat(used(id)).isEqualTo(CALLS);
                agent.stop();
                assertThat(used(id)).isZero();
                assertThat(Charged.of(redis, id)).isEqualTo(CALLS);
            }
        }
    }

    /** Nobody can tell for it: its slots come back with its lease, of 2 s. */
    @Test
    void aProcessThatIsKilledFreesThemWithinOneLease() throws Exception {
        String id = "kill-" + UUID.randomUUID();
        try (Sluice watching = Sluice.connect(redis.uri())) {
            watching.install(Faults.policy(id, CALLS));
            try (AgentMain.Running agent = new AgentMain.Running(redis.uri(), id, CALLS)) {
                agent.kill();
                assertThat(used(id)).isEqualTo(CALLS);
                await().atMost(Duration.ofSeconds(5))
                        .until(() -> Faults.allSlotsFree(watching.project(id), CALLS) && used(id) == 0);
            }
        }
    }

    private long used(String id) {
        return Levels.of(redis.uri(), id, "c:sonnet").used();
    }

    @Test
    void anOwnerThatSettlesAfterwardsIsToldThatItHadEndedAndChangesNothing() {
        try (Budget watching = budget("out: {amount: 1000, per: 1d, burst: 1d, window: refill, of: tokens}")) {
            AtomicInteger lost = new AtomicInteger();
            Sluice sluice = Sluice.connect(redis.uri());
            Permit permit = Budget.take(sluice.project(watching.id), CALL);
            permit.onLost(lost::incrementAndGet);
            sluice.close();

            assertThat(watching.levels().left().get("out")).isEqualTo(985);
            await().untilAsserted(() -> assertThat(lost).as("so that it stops").hasValue(1));
            assertThat(permit.settle(new Usage(900, 0, 0, 1)))
                    .isEqualTo(new Ending(How.SETTLED, true, permit.reserved()));
            assertThat(permit.cancel().already()).isTrue();
            assertThat(watching.levels().left().get("out")).isEqualTo(985);
        }
    }

    /** Not by the outage policy, which would give permits that nobody hears of. */
    @Test
    void itTakesNoNewCallsInAnyForm() {
        try (Budget watching = budget(LIMITS)) {
            Sluice sluice = Sluice.connect(redis.uri());
            sluice.install(Budget.policy(watching.id, Policy.Outage.FAIL_OPEN, LIMITS));
            Project used = sluice.project(watching.id);
            Budget.take(used, CALL).cancel();
            sluice.close();

            for (Project project : List.of(used, sluice.project(watching.id), sluice.project("never-seen"))) {
                assertThat(Budget.refusal(project, CALL).kind()).isEqualTo(Refusal.Kind.CANCELLED);
                assertThatThrownBy(() -> project.acquire(CALL, Duration.ofSeconds(30)))
                        .isInstanceOf(RefusedException.class)
                        .hasMessageContaining("the client was closed");
                assertThat(project.acquireAsync(CALL, Duration.ofSeconds(30)).toCompletableFuture())
                        .failsWithin(5, TimeUnit.SECONDS);
                assertThatThrownBy(() -> project.call(CALL, CallFixture.PROFILE, attempt -> {
                            throw new AssertionError("was sent");
                        }))
                        .isInstanceOf(RefusedException.class);
            }
            assertThat(watching.levels().used()).isZero();
        }
    }

    /** So a shutdown hook comes that was told to hurry: docs/clients.md. The driver's threads stayed, and it threw. */
    @Test
    void anInterruptedThreadClosesLikeAnyOther() {
        try (Budget watching = budget(LIMITS)) {
            Set<Thread> before = Thread.getAllStackTraces().keySet();
            Sluice sluice = filled(watching.id);
            List<Thread> its = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> !before.contains(thread))
                    .filter(thread -> thread.getName().matches("(lettuce|sluice)-.*"))
                    .toList();
            assertThat(its).hasSizeGreaterThan(2);
            boolean kept;
            try {
                Thread.currentThread().interrupt();
                sluice.close();
            } finally {
                kept = Thread.interrupted();
            }

            assertThat(kept).as("the interrupt").isTrue();
            assertThat(watching.levels().used()).isZero();
            await().atMost(Duration.ofSeconds(10))
                    .untilAsserted(() -> assertThat(its).noneMatch(Thread::isAlive));
        }
    }

    /** They are not this process's: whoever has them settles at another desk. */
    @Test
    void permitsOfADeskLiveOn() {
        try (Budget watching = budget("concurrency: 2")) {
            Sluice sluice = Sluice.connect(redis.uri());
            Budget.take(sluice.project(watching.id), CALL);
            Desk.Handout handout = sluice.desk(watching.id, provider -> CallFixture.PROFILE)
                    .acquire(new Desk.Asking(CALL, "caller", Duration.ZERO, null), waiting -> {})
                    .toCompletableFuture()
                    .join();
            sluice.close();

            assertThat(watching.levels().used()).isEqualTo(1);
            Desk other = watching.sluice.desk(watching.id, provider -> CallFixture.PROFILE);
            assertThat(other.cancel(handout.permit()).toCompletableFuture().join())
                    .isEqualTo(new Ending(How.CANCELLED, false, new Permit.Reserved(0, 0, 0, 0, 0)));
            assertThat(watching.levels().used()).isZero();
        }
    }

    /** Between any two steps of asking, waiting and getting: nothing is left, and nobody waits for ever. */
    @Test
    void whileCallsComeAndGo() {
        try (Budget watching = budget("concurrency: 3")) {
            for (int round = 0; round < 30; round++) {
                Sluice sluice = Sluice.connect(redis.uri());
                List<CompletableFuture<Permit>> asked = new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    asked.add(sluice.project(watching.id)
                            .acquireAsync(CALL, Duration.ofMinutes(1))
                            .whenComplete((permit, e) -> {
                                if (permit != null) {
                                    permit.settleAsync(Usage.UNKNOWN);
                                }
                            })
                            .toCompletableFuture());
                }
                if (round % 3 > 0) {
                    asked.get(round % 10).exceptionally(e -> null).join();
                }
                sluice.close();
                assertThat(asked)
                        .allSatisfy(one ->
                                assertThat(one.handle((permit, e) -> true)).succeedsWithin(5, TimeUnit.SECONDS));
                assertThat(watching.levels().used()).isZero();
                assertThat(watching.levels().waiters()).isZero();
            }
        }
    }
}
