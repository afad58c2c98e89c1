package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.util.concurrent.FastThreadLocalThread;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A permit granted in the moment in which its caller gives up belongs to nobody and would be renewed for ever
 * (Netflix/concurrency-limits#179). The lease here is long: what is left behind stays behind.
 */
@WithRedis
@Timeout(60)
class NothingLeftBehindIT {
    private static final int SLOTS = 2;
    private static final String LIMITS = "concurrency: " + SLOTS;

    private final RedisServer redis;
    private final Random random = new Random(179);

    NothingLeftBehindIT(RedisServer redis) {
        this.redis = redis;
    }

    @Test
    void whenAReleaseMeetsATimeOut() {
        try (Budget budget = full(LIMITS)) {
            race(budget, 1_000, () -> {
                CompletableFuture<Permit> waiting = budget.project
                        .acquireAsync(CALL, Duration.ofNanos(random.nextInt(3_000_000)))
                        .toCompletableFuture();
                return () -> waiting.handle((permit, e) -> cancelled(permit)).join();
            });
        }
    }

    @Test
    void whenAReleaseMeetsACancel() {
        try (Budget budget = full(LIMITS)) {
            race(budget, 1_000, () -> {
                CompletableFuture<Permit> waiting =
                        budget.project.acquireAsync(CALL, Duration.ofMinutes(1)).toCompletableFuture();
                return () -> {
                    LockSupport.parkNanos(random.nextInt(2_000_000));
                    waiting.cancel(true);
                    waiting.handle((permit, e) -> cancelled(permit)).join();
                };
            });
        }
    }

    @Test
    void whenAReleaseMeetsATimeOutOfTheirOwnFuture() {
        try (Budget budget = full(LIMITS)) {
            race(budget, 300, () -> {
                CompletableFuture<Permit> waiting = budget.project
                        .acquireAsync(CALL, Duration.ofMinutes(1))
                        .toCompletableFuture()
                        .orTimeout(1 + random.nextInt(3), TimeUnit.MILLISECONDS);
                return () -> waiting.handle((permit, e) -> cancelled(permit)).join();
            });
        }
    }

    @Test
    void whenAReleaseMeetsAnInterrupt() {
        try (Budget budget = full(LIMITS)) {
            race(budget, 1_000, () -> {
                Thread thread = new Thread(() -> {
                    try {
                        budget.project.acquire(CALL, Duration.ofMinutes(1)).cancel();
                    } catch (InterruptedException e) {
                        // That is the point.
                    }
                });
                thread.start();
                return () -> {
                    LockSupport.parkNanos(random.nextInt(2_000_000));
                    thread.interrupt();
                    joined(thread);
                };
            });
        }
    }

    @Test
    void whenAnAnswerNowIsCancelled() {
        try (Budget budget = full(LIMITS)) {
            for (int i = 0; i < 500; i++) {
                CompletableFuture<Decision> decision =
                        budget.project.tryAcquireAsync(CALL).toCompletableFuture();
                LockSupport.parkNanos(random.nextInt(500_000));
                if (!decision.cancel(true) && decision.join() instanceof Decision.Granted granted) {
                    granted.permit().cancel();
                }
            }
            everySlotIsFree(budget);
        }
    }

    /** The code of a listener is not ours; what it throws must not cost a call its permit or a permit its slot. */
    @Test
    void whenAListenerThrows() throws InterruptedException {
        Queue<String> told = new ConcurrentLinkedQueue<>();
        WaitListener thrower = new WaitListener() {
            @Override
            public void started(String project, Call call) {
                throw told("started");
            }

            @Override
            public void waiting(Waiting waiting) {
                throw told("waiting");
            }

            @Override
            public void granted(String project, Call call, Duration waited) {
                throw told("granted");
            }

            @Override
            public void gaveUp(String project, Call call, Duration waited, String why) {
                throw told("gaveUp");
            }

            private IllegalStateException told(String what) {
                told.add(what);
                return new IllegalStateException("thrown by a listener: " + what);
            }
        };
        try (Budget budget = Budget.of(redis.uri(), Sluice.Options.DEFAULT.withListener(thrower), LIMITS)) {
            Permit first = budget.take();
            Permit second = budget.take();
            assertThatThrownBy(() -> budget.project.acquire(CALL, Duration.ofMillis(50)))
                    .isInstanceOf(RefusedException.class);
            CompletableFuture<Permit> third =
                    budget.project.acquireAsync(CALL, Duration.ofMinutes(1)).toCompletableFuture();
            first.cancel();
            assertThat(third).succeedsWithin(5, TimeUnit.SECONDS);
            second.cancel();
            third.join().cancel();
            everySlotIsFree(budget);
        }
        assertThat(told).contains("started", "waiting", "granted", "gaveUp");
    }

    /** Who blocks the thread that delivers replies waits for itself (redis/lettuce#1402). */
    @Test
    void theBlockingFormsRefuseAThreadThatDeliversReplies() throws InterruptedException {
        try (Budget budget = full(LIMITS)) {
            Permit permit = budget.take();
            List<ThrowingCallable> blocking = List.of(
                    () -> budget.project.tryAcquire(CALL),
                    () -> budget.project.acquire(CALL, Duration.ofSeconds(1)),
                    () -> budget.sluice.installed(budget.id),
                    () -> budget.install(LIMITS),
                    permit::cancel,
                    () -> permit.settle(Usage.UNKNOWN));
            List<Throwable> unexpected = new ArrayList<>();
            Thread thread = new FastThreadLocalThread(() -> {
                for (ThrowingCallable each : blocking) {
                    try {
                        assertThatThrownBy(each)
                                .isInstanceOf(IllegalStateException.class)
                                .hasMessageContaining("Async");
                    } catch (AssertionError e) {
                        unexpected.add(e);
                    }
                }
            });
            thread.start();
            thread.join();

            assertThat(unexpected).isEmpty();
            assertThat(permit.cancel().already())
                    .as("refused before it did anything")
                    .isFalse();
            everySlotIsFree(budget);
        }
    }

    /** So whatever users chain to an asynchronous form may block (redis/lettuce#1402). */
    @Test
    void whatUsersChainMayBlock() {
        try (Budget budget = full("concurrency: 1")) {
            Permit first = budget.take();
            CompletableFuture<Permit.How> chain = budget.project
                    .acquireAsync(CALL, Duration.ofMinutes(1))
                    .thenApply(permit -> permit.settle(Usage.UNKNOWN))
                    .thenCompose(ending -> budget.project.tryAcquireAsync(CALL))
                    .thenApply(decision -> ((Decision.Granted) decision).permit())
                    .thenCompose(permit -> permit.settleAsync(Usage.UNKNOWN))
                    .thenApply(ending -> budget.take().cancel().ended())
                    .toCompletableFuture();
            await().until(() -> ((ProjectClient) budget.project).waiting() == 1);

            assertThat(first.settleAsync(Usage.UNKNOWN).thenApply(ending -> budget.sluice.installed(budget.id)))
                    .succeedsWithin(5, TimeUnit.SECONDS);
            assertThat(chain).succeedsWithin(5, TimeUnit.SECONDS).isEqualTo(Permit.How.CANCELLED);
        }
    }

    // ----

    /** Starts a call that waits; what it returns ends the call one way or the other. */
    private interface Attempt {
        Runnable start();
    }

    /** All slots are taken, a call waits, and one slot becomes free as the call gives up. */
    private void race(Budget budget, int rounds, Attempt attempt) {
        Permit other = budget.take();
        int sleptOn = 0;
        for (int i = 0; i < rounds; i++) {
            Permit held = acquired(budget); // what the last round's call gave up may still be on its way back
            sleptOn += held.waited().toMillis() >= 990 ? 1 : 0;
            Runnable end = attempt.start();
            LockSupport.parkNanos(random.nextInt(2_000_000));
            CompletableFuture<Permit.Ending> released = held.cancelAsync().toCompletableFuture();
            end.run();
            released.join();
        }
        // The news of a free slot can overtake the answer "wait": it was missed, and the call slept for a second.
        assertThat(sleptOn).isLessThanOrEqualTo(2);
        other.cancel();
        everySlotIsFree(budget);
    }

    private Budget full(String limits) {
        Budget budget = Budget.of(redis, limits);
        budget.installWithALongLease(limits);
        return budget;
    }

    private static void everySlotIsFree(Budget budget) {
        await().atMost(Duration.ofSeconds(5)).until(() -> budget.levels().used() == 0);
        List<Permit> all = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
            all.add(budget.take());
        }
        all.forEach(Permit::cancel);
        assertThat(((ProjectClient) budget.project).waiting()).isZero();
        assertThat(((ProjectClient) budget.project).held()).isZero();
    }

    private static Permit acquired(Budget budget) {
        try {
            return budget.project.acquire(CALL, Duration.ofSeconds(5));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean cancelled(Permit permit) {
        if (permit != null) {
            permit.cancel();
        }
        return permit != null;
    }

    private static void joined(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
