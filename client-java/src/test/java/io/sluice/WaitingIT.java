package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.sluice.redis.Levels;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Standing in line, as callers see it. */
@WithRedis
@Tag("contract")
@Timeout(60)
class WaitingIT {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final RedisServer redis;
    private final String id = "w-" + UUID.randomUUID();
    private final Queue<WaitListener.Waiting> told = new ConcurrentLinkedQueue<>();
    private final List<Sluice> processes = new ArrayList<>();
    private final Sluice sluice;
    private final ProjectClient project;

    WaitingIT(RedisServer redis) {
        this.redis = redis;
        this.sluice = process(redis.uri());
        this.project = (ProjectClient) sluice.project(id);
    }

    private Sluice process(String uri) {
        Sluice process = Sluice.connect(uri, Sluice.Options.DEFAULT.withListener(new WaitListener() {
            @Override
            public void waiting(Waiting waiting) {
                told.add(waiting);
            }
        }));
        processes.add(process);
        return process;
    }

    @AfterEach
    void nothingStaysInLine() {
        processes.forEach(Sluice::close);
        assertThat(levels().waiters()).isZero();
    }

    /** Leases so long that nothing comes back by itself. */
    private void install(String limits, String queue) {
        sluice.install(Policy.parse("""
                project: %s
                provider: generic
                headroom: 1
                lease: 15m
                queue: {%s}
                teams: [{name: research}, {name: support}]
                classes:
                  - {name: m, models: ["m-*"], max_output: 100, limits: {%s}}
                """.formatted(id, queue, limits)));
    }

    private void install(String limits) {
        install(limits, "max_waiters: 1000");
    }

    private Levels levels() {
        return Levels.of(redis.uri(), id, "c:m");
    }

    private CompletableFuture<Permit> waits(Call call, Duration maxWait) {
        return waits(project, call, maxWait);
    }

    /** A call that waits by the time this returns. */
    private static CompletableFuture<Permit> waits(Project project, Call call, Duration maxWait) {
        int before = ((ProjectClient) project).waiting();
        CompletableFuture<Permit> waiting = project.acquireAsync(call, maxWait).toCompletableFuture();
        soon().until(() -> ((ProjectClient) project).waiting() > before || waiting.isDone());
        return waiting;
    }

    private Refusal refusal(Call call, Duration maxWait) {
        return catchThrowableOfType(RefusedException.class, () -> project.acquire(call, maxWait))
                .refusal();
    }

    private static ConditionFactory soon() {
        return await().pollInterval(Duration.ofMillis(2)).atMost(Duration.ofSeconds(10));
    }

    // ---- what is told

    @Test
    void aListenerHearsWhereACallStandsAndForHowLong() {
        // 600 a minute: one each 100 ms, and a bucket of one.
        install("rpm: {amount: 600, burst: 100ms}");
        Budget.take(project, CALL);
        List<CompletableFuture<Permit>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waiting.add(project.acquireAsync(CALL.team("research"), LONG).toCompletableFuture());
        }
        CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).join();

        WaitListener.Waiting first = told.element();
        assertThat(first.scope() + " " + first.limit() + " " + first.position()).isEqualTo("c:m rpm 1");
        assertThat(first.expected()).isBetween(Duration.ofNanos(1), Duration.ofMillis(100));
        assertThat(first.estimate()).isFalse();
        assertThat(told).anySatisfy(one -> {
            assertThat(one.position()).isGreaterThan(2);
            assertThat(one.estimate()).isTrue();
            assertThat(one.toString()).matches("waiting on " + id + " \\w+, \\d in line, about \\d s");
        });
    }

    /** 100 ms a call: it hears of its way to the front, place by place or nearly so. */
    @Test
    void aListenerHearsOfEveryStepToTheFront() {
        install("rpm: {amount: 240, burst: 250ms}");
        Budget.take(project, CALL);
        for (int i = 0; i < 4; i++) {
            waits(CALL.agent("first"), LONG);
        }
        waits(CALL.agent("last"), LONG).join();
        assertThat(told.stream()
                        .filter(one -> "last".equals(one.call().agent))
                        .map(WaitListener.Waiting::position)
                        .distinct()
                        .toList())
                .hasSizeGreaterThanOrEqualTo(3)
                .isSortedAccordingTo((one, other) -> other - one)
                .startsWith(5);
    }

    @Test
    void aTryIsToldItsPlaceAndNeverStandsInLine() {
        install("concurrency: 1");
        Permit held = Budget.take(project, CALL);
        assertThat(Budget.refusal(project, CALL).position())
                .as("there is no line")
                .isNull();

        CompletableFuture<Permit> waiting = waits(CALL, LONG);
        Refusal behind = Budget.refusal(project, CALL);
        assertThat(behind.kind()).isEqualTo(Refusal.Kind.WAIT);
        assertThat(behind.position()).isEqualTo(2);
        assertThat(behind.estimate()).isTrue();
        assertThat(behind.retryAfter()).isPositive();
        assertThat(refusal(CALL, Duration.ZERO).kind()).isEqualTo(Refusal.Kind.WAIT);

        assertThat(project.waiting()).isEqualTo(1);
        assertThat(levels().waiters()).isEqualTo(1);
        held.cancel();
        waiting.join().cancel();
    }

    // ---- bounds

    @Test
    void aFullLineRefusesAtOnceAndNamesItsBound() {
        install("concurrency: 1", "max_waiters: 4");
        Budget.take(project, CALL);
        for (int i = 0; i < 2; i++) {
            waits(CALL.agent("greedy"), LONG);
        }
        Refusal greedy = refusal(CALL.agent("greedy"), LONG);
        assertThat(greedy.kind()).isEqualTo(Refusal.Kind.QUEUE_FULL);
        assertThat(greedy.message()).contains("2 calls of this agent").contains("max_waiters");

        waits(CALL.agent("a"), LONG);
        waits(CALL.agent("b"), LONG);
        Refusal full = refusal(CALL.agent("c"), LONG);
        assertThat(full.kind()).isEqualTo(Refusal.Kind.QUEUE_FULL);
        assertThat(full.message()).contains("4 calls").contains("max_waiters");
        assertThat(full.retryAfter()).isNotNull();
        assertThat(levels().waiters()).isEqualTo(4);
    }

    @Test
    void nobodyWaitsLongerThanThePolicyLets() {
        install("concurrency: 1, rpm: {amount: 60, burst: 1s}", "max_wait: 300ms");
        long start = System.nanoTime();
        Permit permit = Budget.take(project, CALL);
        Refusal late = refusal(CALL, LONG);
        assertThat(late.kind()).isEqualTo(Refusal.Kind.DEADLINE);
        assertThat(late.limit()).isEqualTo("rpm");
        assertThat(Budget.since(start)).as("its own wait is known: 1 s").isLessThan(Duration.ofMillis(300));

        await().until(() -> Budget.since(start).toMillis() > 1_000);
        long again = System.nanoTime();
        assertThat(refusal(CALL, LONG).limit()).isEqualTo("concurrency");
        assertThat(Budget.since(again)).isBetween(Duration.ofMillis(300), Duration.ofSeconds(2));
        permit.cancel();
    }

    /** "For ever" overflowed and the smallest waits were none: resilience4j/resilience4j#1701, google/guava#1622. */
    @ParameterizedTest
    @ValueSource(longs = {1, 999, 1_000, 100_000, 2_000_000})
    void theShortestWaitsEndInARefusal(long ns) {
        install("concurrency: 1");
        Budget.take(project, CALL);
        Refusal refusal = refusal(CALL, Duration.ofNanos(ns));
        assertThat(refusal.kind()).isEqualTo(Refusal.Kind.DEADLINE);
        assertThat(refusal.limit()).isEqualTo("concurrency");
        soon().until(() -> levels().waiters() == 0);
    }

    @Test
    void theLongestWaitsEndWithAPermit() {
        install("concurrency: 1");
        Permit held = Budget.take(project, CALL);
        List<CompletableFuture<Permit>> waiting = new ArrayList<>();
        for (Duration wait : List.of(
                Duration.ofSeconds(Long.MAX_VALUE), Duration.ofDays(365 * 300), Duration.ofNanos(Long.MAX_VALUE))) {
            waiting.add(waits(CALL, wait));
        }
        held.cancel();
        waiting.forEach(
                one -> assertThat(one).succeedsWithin(5, TimeUnit.SECONDS).satisfies(Permit::cancel));
    }

    // ---- order

    @Test
    void processesStandInOneLine() {
        install("concurrency: 1");
        Project other = process(redis.uri()).project(id);
        Permit held = Budget.take(project, CALL);
        Queue<Integer> order = new ConcurrentLinkedQueue<>();
        List<CompletableFuture<Void>> served = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int number = i;
            served.add(waits(i % 2 == 0 ? project : other, CALL, LONG).thenAccept(permit -> {
                order.add(number);
                permit.cancel();
            }));
        }
        held.cancel();
        served.forEach(CompletableFuture::join);
        assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    }

    /** A client with a short time-out in front of a long line starved: each time it came it stood at the end. */
    @Test
    void whoComesAgainUnderItsIdStandsWhereItStood() {
        install("concurrency: 1");
        Permit held = Budget.take(project, CALL);
        assertThat(refusal(CALL.id("job-1"), Duration.ofMillis(50)).position()).isEqualTo(1);
        CompletableFuture<Permit> later = waits(CALL, LONG);
        CompletableFuture<Permit> again = waits(CALL.id("job-1"), LONG);
        held.cancel();
        again.join();
        assertThat(later).isNotDone();
        again.join().cancel();
        later.join().cancel();
    }

    @Test
    void twoCallersOfOneIdWaitForOnePermit() {
        install("concurrency: 1");
        Permit held = Budget.take(project, CALL);
        CompletableFuture<Permit> one = waits(CALL.id("job-1"), LONG);
        CompletableFuture<Permit> other = waits(CALL.id("job-1"), LONG);
        assertThat(levels().waiters()).isEqualTo(1);
        CompletableFuture<Permit> third = waits(CALL.id("job-1"), LONG);
        third.cancel(true);
        held.cancel();
        assertThat(one.join()).isSameAs(other.join());
        assertThat(levels().used()).isEqualTo(1);
        one.join().cancel();
    }

    // ---- the policy

    @Test
    void aNewPolicyRefusesAtOnceWhatItWillNeverAdmit() {
        install("concurrency: 1");
        Permit held = Budget.take(project, CALL);
        CompletableFuture<Permit> large = waits(CALL.inputTokens(5_000), LONG);
        CompletableFuture<Permit> small = waits(CALL, LONG);
        sluice.install(Policy.parse(
                sluice.installed(id).policy().toJson().replace("\"concurrency\"", "\"itpm\":1000,\"concurrency\"")));
        assertThat(large)
                .failsWithin(Duration.ofSeconds(2))
                .withThrowableThat()
                .withCauseInstanceOf(RefusedException.class)
                .withMessageContaining("itpm");
        held.cancel();
        assertThat(small).succeedsWithin(5, TimeUnit.SECONDS).satisfies(Permit::cancel);
    }

    @Test
    void aPolicyThatOnlyWatchesTellsWhoWouldHaveWaited() {
        sluice.install(Policy.parse("""
                project: %s
                provider: generic
                mode: shadow
                classes: [{name: m, models: ["m-*"], max_output: 100, limits: {concurrency: 1, itpm: 1000}}]
                """.formatted(id)));
        assertThat(Budget.take(project, CALL).wouldHaveWaited()).isEmpty();
        assertThat(Budget.take(project, CALL).wouldHaveWaited()).hasValueSatisfying(shadow -> {
            assertThat(shadow.limit()).isEqualTo("concurrency");
            assertThat(shadow.estimate()).isTrue();
            assertThat(shadow.expected()).isPresent();
        });
        assertThat(Budget.take(project, CALL.inputTokens(5_000)).wouldHaveWaited())
                .hasValueSatisfying(shadow -> {
                    assertThat(shadow.limit()).isEqualTo("itpm");
                    assertThat(shadow.expected()).isEmpty();
                });
        assertThat(told).isEmpty();
    }

    // ---- how it hears

    /** Messages are hints. This one may not even subscribe. */
    @Test
    void withoutAnyMessageAGrantIsHeardOfByTheNextBeat() {
        redis.command("ACL", "SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "+@all");
        install("concurrency: 1");
        Project deaf = process("redis://deaf:pw@127.0.0.1:" + redis.port()).project(id);
        for (int i = 0; i < 3; i++) {
            Permit held = Budget.take(project, CALL);
            CompletableFuture<Permit> waiting = waits(deaf, CALL, LONG);
            held.cancel();
            long start = System.nanoTime();
            waiting.join();
            assertThat(Budget.since(start)).isLessThan(Duration.ofMillis(750));
            waiting.join().cancel();
        }
    }

    /** Everybody woke at the same instant (NousResearch/hermes-agent#109234). */
    @Test
    void aHundredCallsThatWaitForOneResetAskNobodyAHundredTimes() {
        install("calls: {amount: 6000, per: 1m, burst: 1s, window: refill, of: tokens, headroom: 1}");
        Budget.take(project, CALL.inputTokens(95));
        long before = scripts();
        long start = System.nanoTime();
        List<CompletableFuture<Permit>> waiting = new ArrayList<>();
        Project other = process(redis.uri()).project(id);
        for (int i = 0; i < 100; i++) {
            waiting.add((i % 2 == 0 ? project : other)
                    .acquireAsync(CALL.inputTokens(1).maxOutputTokens(0), LONG)
                    .toCompletableFuture());
        }
        CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).join();
        double seconds = Budget.since(start).toMillis() / 1_000.0;
        // The hundred questions; for each process 50 beats a second at most and a claim for each grant at most.
        assertThat(scripts() - before).isBetween(100L, (long) (100 + 2 * 50 * (seconds + 0.1) + 100));
    }

    @Test
    void aThousandCallsThatJustWaitCostFourCommandsASecond() {
        install("concurrency: 1", "max_waiters: 3000");
        Permit held = Budget.take(project, CALL);
        List<CompletableFuture<Permit>> waiting = new ArrayList<>();
        while (project.waiting() < 1_000) { // on a busy machine one or another times out
            for (int i = 0; i < Math.min(50, 1_000 - project.waiting()); i++) {
                waiting.add(project.acquireAsync(CALL, LONG).toCompletableFuture());
            }
            soon().until(() -> project.waiting()
                            + waiting.stream().filter(CompletableFuture::isDone).count()
                    == waiting.size());
        }
        long before = scripts();
        long start = System.nanoTime();
        await().until(() -> Budget.since(start).toMillis() >= 2_000);
        // Eight beats, and one a second that tells what was counted until then.
        assertThat(scripts() - before).isBetween(6L, 12L);

        waiting.forEach(one -> one.cancel(true));
        soon().until(() -> levels().waiters() == 0);
        held.cancel();
        assertThat(levels().used()).isZero();
    }

    /** What this Redis has run so far. */
    private long scripts() {
        return redis.command("INFO", "commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_evalsha:") || line.startsWith("cmdstat_eval:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^:]*:calls=(\\d+),.*", "$1")))
                .sum();
    }
}
