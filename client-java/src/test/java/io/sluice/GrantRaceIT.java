package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.redis.Levels;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A slot is released 4 ms, more or less 1 ms, after a call began to wait for it, and 4 ms is what the call waits: a couple of
 * such races a day took a limiter to zero (Netflix/concurrency-limits#179). Here ten thousand, in lanes beside each other;
 * each ends with the permit, which is then ended, or with nothing. The lease is long: what is left behind stays.
 */
@WithRedis
@Timeout(60)
class GrantRaceIT {
    private static final int LANES = 6;
    private static final int ROUNDS = 560;
    private static final long WAIT_US = 4_000;
    private static final long SPREAD_US = 1_000;
    private static final long SEED = 20_179;

    private final RedisServer redis;
    private final ScheduledExecutorService clock = Executors.newScheduledThreadPool(2);
    private final ExecutorService lanes = Executors.newFixedThreadPool(LANES);
    private final AtomicInteger granted = new AtomicInteger();

    GrantRaceIT(RedisServer redis) {
        this.redis = redis;
    }

    @AfterEach
    void end() {
        clock.shutdownNow();
        lanes.shutdownNow();
    }

    @Test
    void aGrantMeetsADeadline() throws Exception {
        race(project -> {
            try {
                project.acquire(CALL, Duration.ofNanos(WAIT_US * 1_000)).cancel();
                return true;
            } catch (RefusedException e) {
                assertThat(e.refusal().kind()).isEqualTo(Refusal.Kind.DEADLINE);
                return false;
            }
        });
    }

    @Test
    void aGrantMeetsAnInterrupt() throws Exception {
        race(project -> {
            Thread lane = Thread.currentThread();
            ScheduledFuture<?> interrupt = clock.schedule(lane::interrupt, WAIT_US, TimeUnit.MICROSECONDS);
            try {
                Permit permit = project.acquire(CALL, Duration.ofMinutes(1));
                interrupted(interrupt);
                permit.cancel();
                return true;
            } catch (InterruptedException e) {
                return false;
            }
        });
    }

    private static void interrupted(ScheduledFuture<?> interrupt) {
        while (!interrupt.isDone()) {
            Thread.onSpinWait();
        }
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aGrantMeetsACancel() throws Exception {
        race(project -> {
            CompletableFuture<Permit> waiting =
                    project.acquireAsync(CALL, Duration.ofMinutes(1)).toCompletableFuture();
            ScheduledFuture<Boolean> cancel =
                    clock.schedule(() -> waiting.cancel(true), WAIT_US, TimeUnit.MICROSECONDS);
            if (cancel.get()) {
                return false;
            }
            waiting.join().cancel();
            return true;
        });
    }

    private interface Attempt {
        /** Whether it got the permit. */
        boolean granted(Project project) throws Exception;
    }

    private void race(Attempt attempt) throws Exception {
        Random seeds = new Random(SEED);
        List<Callable<Void>> runs = new ArrayList<>();
        try (Sluice sluice = Sluice.connect(redis.uri())) {
            List<String> projects = new ArrayList<>();
            for (int i = 0; i < LANES; i++) {
                String id = "race-" + java.util.UUID.randomUUID();
                projects.add(id);
                sluice.install(Budget.policy(id, "concurrency: 1, " + Budget.THOUSAND, "15m"));
                Random random = new Random(seeds.nextLong());
                runs.add(() -> lane(sluice.project(id), random, attempt));
            }
            for (Future<Void> lane : lanes.invokeAll(runs)) {
                lane.get();
            }
            for (String id : projects) {
                await().atMost(Duration.ofSeconds(5))
                        .pollInterval(Duration.ofMillis(10))
                        .untilAsserted(() -> {
                            Levels levels = Levels.of(redis.uri(), id, "c:m");
                            assertThat(levels.used()).isZero();
                            assertThat(levels.waiters()).isZero();
                            assertThat(levels.left()).containsEntry("calls", 1_000L);
                        });
            }
        }
        assertThat(granted.get())
                .as("of %d, seed %d: both ends happen", LANES * ROUNDS, SEED)
                .isBetween(1, LANES * ROUNDS - 1);
    }

    private Void lane(Project project, Random random, Attempt attempt) throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            // What the last round's call gave up may still be on its way back.
            Permit held = project.acquire(CALL, Duration.ofSeconds(10));
            long released = WAIT_US - SPREAD_US + random.nextLong(2 * SPREAD_US);
            ScheduledFuture<?> release = clock.schedule(held::cancelAsync, released, TimeUnit.MICROSECONDS);
            if (attempt.granted(project)) {
                granted.incrementAndGet();
            }
            release.get();
        }
        return null;
    }
}
