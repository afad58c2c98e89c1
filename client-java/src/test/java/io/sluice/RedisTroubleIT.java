package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Redis stalls, forgets, restarts, becomes a replica or is full: no permit without it, none lost, none charged twice. */
@WithRedis(own = true)
@Tag("contract")
@Timeout(60)
class RedisTroubleIT {
    private static final String LIMITS = "concurrency: 100, " + Budget.THOUSAND;

    private final RedisServer redis;

    RedisTroubleIT(RedisServer redis) {
        this.redis = redis;
    }

    /** Commands that timed out ran later all the same, and nobody held what they had taken (redis/lettuce#1426). */
    @Test
    void aStallCostsAnAnswerButNeverAPermitOrASecondCharge() throws Exception {
        try (Budget budget = Budget.of(redis, LIMITS)) {
            budget.take().settle(Usage.UNKNOWN);
            redis.command("CLIENT", "PAUSE", "1500", "ALL");

            Map<String, Permit> granted = new ConcurrentHashMap<>();
            inParallel(4, caller -> {
                String id = "call-" + caller;
                try {
                    granted.put(id, budget.project.acquire(CALL.id(id), Duration.ofSeconds(5)));
                } catch (OutageException e) {
                    assertThat(e.reason()).isIn("timeout", "breaker");
                }
                return id;
            });
            outcome().until(() -> answers(budget));
            granted.values().forEach(permit -> permit.settle(Usage.UNKNOWN));

            soon().untilAsserted(() -> {
                assertThat(budget.levels().used()).isZero();
                // Granted: charged once. Given up: all comes back if Redis hears of it within the lease, else the slot
                // alone. Never a second charge.
                assertThat(budget.levels().left().get("calls")).isBetween(999L - 4, 999L - granted.size());
            });
        }
    }

    @Test
    void askingAgainWithTheSameIdAfterAStallGivesTheOnePermit() throws Exception {
        try (Budget budget = Budget.of(redis, LIMITS)) {
            budget.take().settle(Usage.UNKNOWN);
            redis.command("CLIENT", "PAUSE", "600", "ALL");
            OutageException stalled = catchThrowableOfType(
                    OutageException.class, () -> budget.project.acquire(CALL.id("job-1"), Duration.ofMillis(1)));
            assertThat(stalled.reason()).isEqualTo("timeout");

            Permit permit = budget.project.acquire(CALL.id("job-1"), Duration.ofSeconds(5));

            // What the first question left to be undone is not undone under it: it lives on through some beats.
            long start = System.nanoTime();
            await().until(() -> Budget.since(start).toMillis() > 1_600);
            assertThat(budget.levels().used()).isEqualTo(1);
            assertThat(permit.settle(Usage.UNKNOWN).already()).isFalse();
            assertThat(budget.levels().left()).containsEntry("calls", 998L);
        }
    }

    /** Every call failed with NOSCRIPT after the cache was flushed (gravitee-io/gravitee-api-management#17370). */
    @Test
    void aFlushedScriptCacheIsNobodysProblem() throws Exception {
        // About scripts, not about time: a busy machine may take its own.
        Sluice.Options patient = Sluice.Options.DEFAULT.withCommandTimeout(Duration.ofSeconds(5));
        try (Budget budget = Budget.of(redis.uri(), patient, "concurrency: 100")) {
            long start = System.nanoTime();
            CompletableFuture<Integer> flushes = CompletableFuture.supplyAsync(() -> {
                int count = 0;
                while (Budget.since(start).toMillis() < 2_000) {
                    redis.command("SCRIPT", "FLUSH");
                    count++;
                }
                return count;
            });
            List<Integer> calls = inParallel(8, caller -> {
                int count = 0;
                while (!flushes.isDone()) {
                    budget.take().settle(new Usage(1, 0, 0, 1));
                    count++;
                }
                return count;
            });

            assertThat(flushes.join()).isGreaterThan(20);
            assertThat(calls).allMatch(count -> count > 10);
            assertThat(budget.levels().used()).isZero();
        }
    }

    /** A second full budget on top of the one that was spent would be paid for in rejections. */
    @Test
    void whatRedisForgotStartsFromEmptyBuckets() {
        String limits = "calls: {amount: 3600, per: 1h, burst: 1h, window: refill, of: requests}";
        try (Budget budget = Budget.of(redis, limits)) {
            budget.take().settle(Usage.UNKNOWN);
            assertThat(budget.levels().left()).containsEntry("calls", 3_599L);

            redis.restart();

            long start = System.nanoTime();
            outcome().until(() -> answers(budget));
            assertThat(budget.levels().left().get("calls"))
                    .isLessThanOrEqualTo(1 + Budget.since(start).toSeconds());
            assertThat(budget.sluice.installed(budget.id).version()).isEqualTo(1);
        }
    }

    /** With the line itself gone nobody would ever have been told anything. */
    @Test
    void callsThatWaitOutliveALineThatIsLost() {
        try (Budget budget = Budget.of(redis, "concurrency: 1")) {
            budget.installWithALongLease("concurrency: 1");
            budget.take();
            List<CompletableFuture<Permit>> waiting = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                waiting.add(budget.project
                        .acquireAsync(CALL, Duration.ofSeconds(30))
                        .toCompletableFuture());
            }
            await().until(() -> ((ProjectClient) budget.project).waiting() == 3);

            redis.command("FLUSHALL");

            // The permit that was held is forgotten, and its slot with it.
            waiting.forEach(one -> one.thenAccept(Permit::cancel));
            assertThat(waiting).allSatisfy(one -> assertThat(one).succeedsWithin(Duration.ofSeconds(10)));
            soon().until(() -> budget.levels().used() == 0 && budget.levels().waiters() == 0);
        }
    }

    @Test
    void callsThatWaitEndSoonWhenRedisIsSilentAndLeaveNothing() {
        try (Budget budget = Budget.of(redis, "concurrency: 1")) {
            budget.installWithALongLease("concurrency: 1");
            Permit held = budget.take();
            CompletableFuture<Permit> waiting =
                    budget.project.acquireAsync(CALL, Duration.ofSeconds(30)).toCompletableFuture();
            await().until(() -> ((ProjectClient) budget.project).waiting() == 1);

            redis.pause();
            try {
                assertThat(waiting)
                        .failsWithin(Duration.ofSeconds(5))
                        .withThrowableThat()
                        .withCauseInstanceOf(OutageException.class);
            } finally {
                redis.resume();
            }
            outcome().until(() -> budget.levels().waiters() == 0);
            assertThat(held.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
            outcome().until(() -> answers(budget));
            assertThat(budget.levels().used()).isZero();
        }
    }

    /** A client kept on talking to a node that had become a replica (redis/lettuce#1244). */
    @Test
    void aRedisThatBecameAReplicaIsAnOutageUntilItIsNoneAnyMore() {
        try (Budget budget = Budget.of(redis, LIMITS)) {
            Permit permit = budget.take();
            redis.command("REPLICAOF", "127.0.0.1", "1");
            try {
                OutageException thrown =
                        catchThrowableOfType(OutageException.class, () -> budget.project.tryAcquire(CALL));
                assertThat(thrown.reason()).isEqualTo("readonly");
            } finally {
                redis.command("REPLICAOF", "NO", "ONE");
            }

            outcome().until(() -> answers(budget));
            assertThat(permit.settle(Usage.UNKNOWN).ended()).isIn(Permit.How.SETTLED, Permit.How.EXPIRED);
            soon().until(() -> budget.levels().used() == 0);
        }
    }

    @Test
    void aFullRedisGivesNoPermitsButTakesThemBack() {
        try (Budget budget = Budget.of(redis, LIMITS)) {
            Permit settled = budget.take();
            Permit cancelled = budget.take();
            Permit kept = budget.take();
            redis.command("CONFIG", "SET", "maxmemory", "1mb");
            try {
                // More often than would make the client take Redis for dead, and longer than a lease.
                long start = System.nanoTime();
                do {
                    OutageException thrown =
                            catchThrowableOfType(OutageException.class, () -> budget.project.tryAcquire(CALL));
                    assertThat(thrown.reason()).isEqualTo("oom");
                } while (Budget.since(start).toMillis() < 1_500);

                assertThat(settled.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
                assertThat(cancelled.cancel().ended()).isEqualTo(Permit.How.CANCELLED);
                assertThat(budget.levels().used()).isEqualTo(1);
            } finally {
                redis.command("CONFIG", "SET", "maxmemory", "0");
            }
            assertThat(kept.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
            budget.take().cancel();
            assertThat(budget.levels().left()).containsEntry("calls", 998L);
        }
    }

    // ----

    /** One call through, with nothing kept of it. */
    private static boolean answers(Budget budget) {
        try {
            return budget.project.tryAcquire(CALL) instanceof Decision.Granted granted
                    && granted.permit().cancel().ended() == Permit.How.CANCELLED;
        } catch (OutageException e) {
            return false;
        }
    }

    private static ConditionFactory outcome() {
        return await().pollInterval(Duration.ofMillis(50)).atMost(Duration.ofSeconds(15));
    }

    /** A lease and a margin for a busy machine. */
    private static ConditionFactory soon() {
        return await().pollInterval(Duration.ofMillis(50)).atMost(Duration.ofSeconds(4));
    }

    private interface Caller<T> {
        T call(int number) throws Exception;
    }

    /** What each caller came to; what one of them throws fails the test. */
    private static <T> List<T> inParallel(int callers, Caller<T> each) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        try {
            List<Callable<T>> tasks = new ArrayList<>();
            for (int i = 0; i < callers; i++) {
                int number = i;
                tasks.add(() -> each.call(number));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : threads.invokeAll(tasks)) {
                results.add(future.get());
            }
            return results;
        } catch (ExecutionException e) {
            throw new AssertionError("a caller saw an error", e.getCause());
        } finally {
            threads.shutdownNow();
        }
    }
}
