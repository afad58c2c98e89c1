package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sluice.redis.Levels;
import io.sluice.testbed.redis.RedisOptions;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Redis is gone, under a policy that says local-share: all hosts together stay within 0.8 of each limit, and all of it is told after. */
@Tag("contract")
@Timeout(90)
class LocalShareIT {
    private final RedisServer redis = RedisServers.start(RedisOptions.DEFAULT.keepingData());
    private final String id = "t-" + UUID.randomUUID();
    private final List<Sluice> hosts = new ArrayList<>();

    @AfterEach
    void close() {
        hosts.forEach(Sluice::close);
        redis.close();
    }

    /** That many processes that have used the project, each of which knows of all the others. */
    private List<Project> fleet(int size, Sluice.Options options, String limits) {
        for (int i = 0; i < size; i++) {
            hosts.add(Sluice.connect(redis.uri(), options));
        }
        hosts.get(0).install(Budget.policy(id, Policy.Outage.LOCAL_SHARE, limits));
        List<Project> projects =
                hosts.stream().map(sluice -> sluice.project(id)).toList();
        projects.forEach(project -> Budget.take(project, CALL).cancel());
        soon().until(() ->
                projects.stream().allMatch(project -> shareOf(project).hosts() == size));
        return projects;
    }

    private static Share shareOf(Project project) {
        return ((ProjectClient) project).share();
    }

    private Levels levels() {
        return Levels.of(redis.uri(), id, "c:m");
    }

    private static ConditionFactory soon() {
        return await().pollInterval(Duration.ofMillis(50)).atMost(Duration.ofSeconds(20));
    }

    /** Whatever it gets; nothing where it gets none. */
    private static void tryOnce(Project project, Queue<Permit> permits) {
        try {
            if (project.tryAcquire(CALL) instanceof Decision.Granted granted) {
                permits.add(granted.permit());
            }
        } catch (OutageException e) {
            assertThat(e.getMessage()).contains("this host's share");
        }
    }

    /** Each node counted alone and the fleet got the limit times their number (majiayu000/litellm-rs#836). */
    @Test
    void tenHostsTogetherRunFourOfFiveSlots() throws Exception {
        List<Project> fleet = fleet(10, Sluice.Options.DEFAULT, "concurrency: 5");
        redis.kill();

        Queue<Permit> running = new ConcurrentLinkedQueue<>();
        ExecutorService threads = Executors.newFixedThreadPool(20);
        try {
            for (int round = 0; round < 3; round++) {
                for (Project project : fleet) {
                    threads.execute(() -> tryOnce(project, running));
                    threads.execute(() -> tryOnce(project, running));
                }
            }
        } finally {
            threads.shutdown();
            assertThat(threads.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(running).hasSize(4).allMatch(Permit::degraded);

        redis.restart();
        soon().until(() -> levels().used() == 4);
        // The fifth slot is the last one: those that started without Redis are counted again.
        soon().until(() -> fleet.get(0).tryAcquire(CALL) instanceof Decision.Granted);
        assertThat(fleet.get(1).tryAcquire(CALL)).isInstanceOf(Decision.Refused.class);
        running.forEach(
                permit -> assertThat(permit.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED));
        soon().until(() -> levels().used() == 1);
    }

    @Test
    void fourHostsTogetherStartAtFourFifthsOfTheRate() {
        List<Project> fleet = fleet(4, Sluice.Options.DEFAULT, "rpm: 600");
        redis.kill();
        long start = System.nanoTime();
        AtomicInteger started = new AtomicInteger();
        List<CompletableFuture<Void>> agents = new ArrayList<>();
        for (Project project : fleet) {
            for (int agent = 0; agent < 3; agent++) {
                agents.add(CompletableFuture.runAsync(() -> {
                    while (Budget.since(start).toMillis() < 4_000) {
                        try {
                            project.acquire(CALL, Duration.ofMillis(500)).settle(Usage.UNKNOWN);
                            started.incrementAndGet();
                        } catch (RefusedException full) {
                            assertThat(full.refusal().limit()).isEqualTo("rpm");
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                }));
            }
        }
        agents.forEach(CompletableFuture::join);

        double seconds = Budget.since(start).toNanos() / 1e9;
        assertThat((double) started.get()).isBetween(0.8 * 10 * 3, 0.8 * (50 + 10 * seconds) + fleet.size());
    }

    /** A second budget on top of the one that was spent would be paid for in rejections. */
    @Test
    void whatWasSpentWithoutRedisIsBookedOnce() throws Exception {
        String limits = "concurrency: 10, calls: {amount: 60000, per: 10m, window: rolling, of: requests}";
        List<Project> fleet = fleet(2, Sluice.Options.DEFAULT, limits);
        long before = levels().left().get("calls");
        redis.kill();
        List<Permit> given = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            given.add(fleet.get(i % 2).acquire(CALL, Duration.ofSeconds(10)));
        }
        assertThat(given).allMatch(Permit::degraded);
        given.subList(0, 5)
                .forEach(permit -> assertThat(permit.settle(Usage.UNKNOWN))
                        .isEqualTo(new Permit.Ending(Permit.How.SETTLED, false, permit.reserved())));
        assertThat(given.get(5).cancel().ended()).isEqualTo(Permit.How.CANCELLED);

        redis.restart();

        // Five are over, one never was, two run on.
        soon().untilAsserted(() -> {
            assertThat(levels().left()).containsEntry("calls", before - 7);
            assertThat(levels().used()).isEqualTo(2);
        });
        given.subList(6, 8).forEach(permit -> permit.settle(Usage.UNKNOWN));
        soon().until(() -> levels().used() == 0);
        assertThat(levels().left()).containsEntry("calls", before - 7);
    }

    @Test
    void whatIsRefilledLongSinceIsNotBooked() throws Exception {
        List<Project> fleet = fleet(1, Sluice.Options.DEFAULT, "rpm: 6000");
        redis.kill();
        for (int i = 0; i < 200; i++) {
            fleet.get(0).acquire(CALL, Duration.ofSeconds(10)).settle(Usage.UNKNOWN);
        }
        long start = System.nanoTime();
        await().until(() -> Budget.since(start).toMillis() > 2_600); // 200 at 80 a second
        redis.restart();
        soon().until(() -> fleet.get(0).tryAcquire(CALL) instanceof Decision.Granted granted
                && !granted.permit().degraded());
        assertThat(levels().left().get("rpm")).isGreaterThan(450);
    }

    @Test
    void callsInLineMoveHereAndBackWithTheTimeTheyHaveLeft() throws Exception {
        List<Project> fleet = fleet(1, Sluice.Options.DEFAULT, "concurrency: 2");
        Project project = fleet.get(0);
        Permit first = Budget.take(project, CALL);
        Permit second = Budget.take(project, CALL);
        CompletableFuture<Permit> waiting =
                project.acquireAsync(CALL, Duration.ofSeconds(60)).toCompletableFuture();
        CompletableFuture<Permit> impatient =
                project.acquireAsync(CALL, Duration.ofSeconds(3)).toCompletableFuture();
        soon().until(() -> levels().waiters() == 2);

        redis.pause();
        // One slot is this host's without Redis, and two calls run.
        assertThat(impatient)
                .failsWithin(Duration.ofSeconds(6))
                .withThrowableThat()
                .withCauseInstanceOf(RefusedException.class)
                .withMessageContaining("this host's share");
        assertThat(first.settle(Usage.UNKNOWN).ended()).isEqualTo(Permit.How.SETTLED);
        assertThat(waiting).isNotDone();
        redis.resume();

        // The slot that is free once Redis has heard goes to the one that waits, and by Redis.
        assertThat(waiting.get(20, TimeUnit.SECONDS).degraded()).isFalse();
        waiting.join().settle(Usage.UNKNOWN);
        second.settle(Usage.UNKNOWN);
        soon().until(() -> levels().used() == 0 && levels().waiters() == 0);
    }

    @Test
    void thisHostsOwnLineLetsStartWhatHasRoom() throws Exception {
        Project project = fleet(1, Sluice.Options.DEFAULT, "concurrency: 2").get(0);
        redis.kill();
        Permit first = project.acquire(CALL, Duration.ofSeconds(5));
        CompletableFuture<Permit> batch = project.acquireAsync(CALL.priority(Priority.BATCH), Duration.ofSeconds(30))
                .toCompletableFuture();
        soon().until(() -> ((ProjectClient) project).waiting() == 1);
        CompletableFuture<Permit> urgent = project.acquireAsync(
                        CALL.priority(Priority.INTERACTIVE), Duration.ofSeconds(30))
                .toCompletableFuture();
        CompletableFuture<Permit> given =
                project.acquireAsync(CALL, Duration.ofSeconds(30)).toCompletableFuture();
        soon().until(() -> ((ProjectClient) project).waiting() == 3);
        given.cancel(false);
        soon().until(() -> ((ProjectClient) project).waiting() == 2);

        first.settle(Usage.UNKNOWN);
        Permit second = urgent.get(5, TimeUnit.SECONDS);
        assertThat(batch).isNotDone();
        second.cancel();
        assertThat(batch.get(5, TimeUnit.SECONDS).degraded()).isTrue();

        CompletableFuture<Permit> late =
                project.acquireAsync(CALL, Duration.ofSeconds(30)).toCompletableFuture();
        soon().until(() -> ((ProjectClient) project).waiting() == 1);
        hosts.get(0).close();
        assertThat(late)
                .failsWithin(Duration.ofSeconds(5))
                .withThrowableThat()
                .withCauseInstanceOf(RefusedException.class);
    }

    @Test
    void oneIdIsOnePermitWithoutRedisToo() throws Exception {
        Project project = fleet(1, Sluice.Options.DEFAULT, "concurrency: 5").get(0);
        redis.kill();
        Permit one = project.acquire(CALL.id("job-1"), Duration.ofSeconds(5));
        Permit same = project.acquire(CALL.id("job-1"), Duration.ofSeconds(5));
        assertThat(same).isSameAs(one);
        assertThat(one.id()).isEqualTo("job-1");
        assertThat(one.settle(Usage.UNKNOWN).already()).isFalse();
        assertThat(same.settle(Usage.UNKNOWN).already()).isTrue();
    }

    /** It was seen by nobody: whatever it used would be on top. */
    @Test
    void aHostThatNeverSawTheOthersUsesNothing() {
        fleet(1, Sluice.Options.DEFAULT, "concurrency: 5");
        Sluice late = Sluice.connect(redis.uri());
        hosts.add(late);
        assertThat(late.installed(id).version()).isEqualTo(1);
        redis.kill();
        assertThatThrownBy(() -> late.project(id).tryAcquire(CALL))
                .isInstanceOf(OutageException.class)
                .hasMessageContaining("share");
    }

    /** Every agent hung on a Redis that took connections and never answered (BerriAI/litellm#35273). */
    @Test
    void everyCallIsBackInTimeFromARedisThatHangs() throws Exception {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        Project project = fleet(1, Sluice.Options.DEFAULT.withMeters(meters), "concurrency: 1000")
                .get(0);
        redis.pause();
        ExecutorService threads = Executors.newFixedThreadPool(200);
        try {
            List<CompletableFuture<Long>> calls = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                calls.add(CompletableFuture.supplyAsync(
                        () -> {
                            long start = System.nanoTime();
                            assertThat(Budget.take(project, CALL).degraded()).isTrue();
                            return Budget.since(start).toMillis();
                        },
                        threads));
            }
            // The command time-out is 250 ms; the rest is what 200 threads wait for a busy machine.
            assertThat(calls).allSatisfy(call -> assertThat(call.join()).isLessThan(4_000));

            long start = System.nanoTime();
            for (int i = 0; i < 200; i++) {
                Budget.take(project, CALL).cancel();
            }
            assertThat(Budget.since(start)).as("once it is known").isLessThan(Duration.ofSeconds(3));
        } finally {
            threads.shutdownNow();
        }
        assertThat(meters.get("sluice.degraded").tag("project", id).gauge().value())
                .isEqualTo(1);
        assertThat(meters.get("sluice.store.up").gauge().value()).isZero();

        redis.resume();
        soon().until(() ->
                meters.get("sluice.degraded").tag("project", id).gauge().value() == 0);
        assertThat(Budget.take(project, CALL).degraded()).isFalse();
        assertThat(meters.get("sluice.store.up").gauge().value()).isEqualTo(1);
    }
}
