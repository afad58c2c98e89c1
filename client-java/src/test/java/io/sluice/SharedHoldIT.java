package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.sluice.Rejection.Kind;
import io.sluice.Rejection.Scope;
import io.sluice.Store.Observation;
import io.sluice.Store.Observations;
import io.sluice.redis.Levels;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What one process is told by the provider, all processes know. */
@WithRedis
@Timeout(60)
class SharedHoldIT {
    private static final Call CALL = Call.of("m-1").inputTokens(10).maxOutputTokens(5);
    private static final Duration LONG = Duration.ofMinutes(1);

    private final RedisServer redis;
    private final String id = "h-" + UUID.randomUUID();
    private final List<Sluice> processes = new ArrayList<>();

    SharedHoldIT(RedisServer redis) {
        this.redis = redis;
    }

    @AfterEach
    void nothingStaysInLine() {
        processes.forEach(Sluice::close);
        assertThat(levels().waiters()).isZero();
    }

    private ProjectClient process() {
        Sluice process = Sluice.connect(redis.uri());
        processes.add(process);
        return (ProjectClient) process.project(id);
    }

    /** By then it has told what it knows. */
    private void closes(ProjectClient project) {
        processes.remove(project.client);
        project.client.close();
    }

    private ProjectClient installed(String limits) {
        ProjectClient first = process();
        first.client.install(Policy.parse("""
                project: %s
                provider: anthropic
                headroom: 1
                lease: 15m
                classes:
                  - {name: m, models: ["m-*"], max_output: 100, limits: {%s}}
                  - {name: other, models: ["o-*"]}
                """.formatted(id, limits)));
        return first;
    }

    private Levels levels() {
        return Levels.of(redis.uri(), id, "c:m");
    }

    private static ConditionFactory soon() {
        return await().pollInterval(Duration.ofMillis(2)).atMost(Duration.ofSeconds(15));
    }

    private static CompletableFuture<Permit> waits(ProjectClient project, Call call) {
        int before = project.waiting();
        CompletableFuture<Permit> waiting = project.acquireAsync(call, LONG).toCompletableFuture();
        soon().until(() -> project.waiting() > before || waiting.isDone());
        return waiting;
    }

    private static Refusal refused(CompletableFuture<Permit> waiting) {
        assertThat(waiting).isCompletedExceptionally();
        Throwable thrown = waiting.handle((permit, e) -> e).join();
        return ((RefusedException) Blocking.cause(thrown)).refusal();
    }

    private static void release(ProjectClient project) {
        project.client
                .store
                .observe(new Observations(project.id(), "operator", List.of(new Observation.Release("*"))))
                .toCompletableFuture()
                .join();
    }

    /** When each call started, by its name. */
    private record Start(String who, long atNs) {}

    private static void starts(List<Start> starts, String who, CompletableFuture<Permit> waiting) {
        waiting.thenAccept(permit -> {
            starts.add(new Start(who, System.nanoTime()));
            permit.settleAsync(new Usage(10, 0, 0, 5));
        });
    }

    /** Held by its limits' scope a team went on once a version without them came, and was told to be held. */
    @Test
    void aTeamStaysHeldWhateverLimitsItHas() {
        ProjectClient project = process();
        String policy = """
                project: %s
                provider: anthropic
                classes:
                  - {name: m, models: ["m-*"], limits: {rpm: 600}}
                """.formatted(id);
        String limited = policy + "teams: [{name: red, limits: {rpm: 60}}]\n";
        Call its = CALL.team("red");
        for (String now : List.of(limited, policy)) {
            String next = now.equals(policy) ? limited : policy;
            project.client.install(Policy.parse(now));
            project.hold("t:red", LONG, "loops");
            assertThat(project.tryAcquire(its)).isInstanceOf(Decision.Refused.class);
            project.client.install(Policy.parse(next));
            assertThat(project.tryAcquire(its)).isInstanceOf(Decision.Refused.class);
            assertThat(project.tryAcquire(CALL.team("blue"))).isInstanceOf(Decision.Granted.class);
            assertThat(project.release("t:red")).isTrue();
            assertThat(project.tryAcquire(its)).isInstanceOf(Decision.Granted.class);
        }
    }

    /**
     * Each process spent a call to learn what another one knew (koala73/worldmonitor#7190). Retry-After is 20 s there; here it
     * is 2 s.
     */
    @Test
    void oneRejectionSilencesEveryProcessUntilItsEndAndThoseInLineKeepTheirPlace() {
        ProjectClient first = installed("concurrency: 2");
        ProjectClient second = process();
        Permit rejected = Budget.take(first, CALL);
        Permit running = Budget.take(first, CALL);
        List<Start> starts = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 5; i++) {
            starts(starts, "second-" + i, waits(second, CALL));
        }

        rejected.throttled(new Rejection(Kind.INPUT, Scope.CLASS, true, Duration.ofSeconds(2)));
        long rejectedNs = System.nanoTime();
        running.settle(new Usage(10, 0, 0, 5));
        ProjectClient third = process(); // it starts later, and knows nothing
        assertThat(third.tryAcquire(CALL)).isInstanceOfSatisfying(Decision.Refused.class, no -> {
            assertThat(no.refusal().kind()).isEqualTo(Refusal.Kind.HOLD);
            assertThat(no.refusal().scope()).isEqualTo("c:m");
            assertThat(no.refusal().retryAfter()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(2));
        });
        assertThat(third.tryAcquire(Call.of("o-1"))).as("another class").isInstanceOf(Decision.Granted.class);
        starts(starts, "third", waits(third, CALL));
        Refusal first429 = catchThrowableOfType(
                        RefusedException.class, () -> first.acquire(CALL, Duration.ofMillis(500)))
                .refusal();
        assertThat(first429.kind()).isEqualTo(Refusal.Kind.HOLD);
        assertThat(first429.message()).matches(id + " is on hold for [12] s: provider said input \\(class m\\)");

        soon().until(() -> starts.size() == 6);
        assertThat(starts)
                .allSatisfy(start -> assertThat(Duration.ofNanos(start.atNs() - rejectedNs))
                        .isGreaterThan(Duration.ofMillis(1_950)));
        List<String> order = starts.stream().map(Start::who).toList();
        // One first; then two at a time, and of two that run nobody knows who says so first.
        assertThat(order.get(0)).isEqualTo("second-0");
        assertThat(order.indexOf("third")).isGreaterThanOrEqualTo(4);
    }

    /** "No money left" was retried like a rate limit (langchain-ai/langchainjs#1929). */
    @Test
    void anEmptyAccountFailsAllThatWaitAtOnceAndIsOpenedByItsOperator() {
        ProjectClient first = installed("concurrency: 1");
        ProjectClient second = process();
        Permit permit = Budget.take(first, CALL);
        List<CompletableFuture<Permit>> waiting = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            waiting.add(waits(i % 2 == 0 ? first : second, CALL));
        }

        long rejectedNs = System.nanoTime();
        permit.throttled(new Rejection(Kind.CREDITS, Scope.PROJECT, false, null));
        soon().until(() -> waiting.stream().allMatch(CompletableFuture::isDone));
        assertThat(Budget.since(rejectedNs)).isLessThan(Duration.ofSeconds(1));
        assertThat(waiting).allSatisfy(one -> {
            assertThat(refused(one).kind()).isEqualTo(Refusal.Kind.HOLD);
            assertThat(refused(one).retryAfter()).isNull();
            assertThat(refused(one).message())
                    .isEqualTo(id + " is on hold until it is released: provider said credits");
        });
        assertThat(Budget.refusal(process(), Call.of("o-1")).kind()).isEqualTo(Refusal.Kind.HOLD);
        assertThat(levels().used()).isZero();

        release(second);
        CompletableFuture<Permit> next = waits(first, CALL);
        soon().until(next::isDone);
        next.join().settle(new Usage(10, 0, 0, 5));
    }

    /** A short backoff that the fleet shares and that grows while it goes on; no limit is touched. */
    @Test
    void overloadIsBackedOffFromTogetherAndLeavesNothingBehind() {
        ProjectClient first = installed("rpm: {amount: 60, burst: 60s}, itpm: {amount: 100000, burst: 60s}");
        ProjectClient second = process();
        Rejection overload = new Rejection(Kind.OVERLOAD, Scope.CLASS, true, null);

        Budget.take(first, CALL.inputTokens(1_000)).throttled(overload);
        Refusal once = Budget.refusal(second, CALL);
        assertThat(once.kind()).isEqualTo(Refusal.Kind.HOLD);
        assertThat(once.retryAfter()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(1));
        assertThat(levels().left().get("itpm")).as("its tokens came back").isEqualTo(100_000);
        assertThat(levels().left().get("rpm")).as("its request counts").isEqualTo(59);

        CompletableFuture<Permit> probe = waits(second, CALL);
        soon().until(probe::isDone);
        probe.join().throttled(overload);
        assertThat(Budget.refusal(first, CALL).retryAfter())
                .as("the second in a row")
                .isBetween(Duration.ofMillis(1_001), Duration.ofSeconds(2));

        // The provider recovers: all of it is there again.
        List<CompletableFuture<Permit>> calls = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            CompletableFuture<Permit> call = waits(i % 2 == 0 ? first : second, CALL);
            call.thenAccept(permit -> permit.settleAsync(new Usage(10, 0, 0, 5)));
            calls.add(call);
        }
        soon().until(() -> calls.stream().allMatch(CompletableFuture::isDone));
        assertThat(calls).noneMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(first.tryAcquire(CALL)).isInstanceOf(Decision.Granted.class);
        assertThat(levels().left().get("rpm")).isGreaterThan(10);
    }

    private static Reading answer(long left, Instant date) {
        return new Reading(
                null,
                new Usage(10, 0, 0, 5),
                true,
                0,
                List.of(new LimitReading("input", 100_000L, left, null, 1)),
                List.of(),
                date,
                Map.of());
    }

    /** What was left jumped up when an older answer came late (HabitRPG/habitica#12797). */
    @Test
    void whatIsLeftLowersALevelAndAnOlderAnswerNeverRaisesIt() {
        ProjectClient first = installed("itpm: {amount: 100000, burst: 60s}");
        ProjectClient second = process();
        Permit early = Budget.take(first, CALL);
        Permit late = Budget.take(second, CALL);
        Instant now = Instant.now();

        late.settle(answer(3_000, now.plusSeconds(2)));
        long loweredNs = System.nanoTime();
        soon().until(() -> levels().left().get("itpm") < 50_000);
        early.settle(answer(29_000, now));
        closes(second);
        closes(first);
        long left = levels().left().get("itpm");
        long refilled = 100_000 * Budget.since(loweredNs).toMillis() / 60_000;
        assertThat(left).isBetween(3_000L, 3_000 + refilled + 20);
    }

    /** A fleet of short-lived jobs: each must reserve well for its very first call. */
    @Test
    void whatOneProcessLearnedTheNextOneReserves() {
        ProjectClient first = installed("otpm: {amount: 100000, burst: 60s}");
        Call call = CALL.maxOutputTokens(32_000).agent("a").inputBytes(4_000);
        assertThat(Budget.take(first, call).reserved())
                .as("nothing is known")
                .isEqualTo(new Permit.Reserved(1, 1_334, 0, 0, 100));
        for (int i = 0; i < 30; i++) {
            Budget.take(first, call).settle(new Usage(200, 800, 0, 490));
        }
        closes(first);

        assertThat(Budget.take(process(), call).reserved()).isEqualTo(new Permit.Reserved(1, 200, 800, 0, 512));
    }

    @Test
    void aProcessHearsWhatTheOthersLearnedFromItsOwnCalls() {
        ProjectClient first = installed("otpm: {amount: 100000, burst: 60s}");
        ProjectClient second = process();
        Call call = CALL.maxOutputTokens(32_000);
        Budget.take(second, call).cancel();
        for (int i = 0; i < 30; i++) {
            Budget.take(first, call).settle(new Usage(200, 800, 0, 50));
        }
        closes(first);

        Budget.take(second, call).settle(new Usage(200, 800, 0, 50));
        soon().until(() -> {
            Permit permit = Budget.take(second, call);
            permit.cancel();
            return permit.reserved().output() == 53;
        });
    }

    /** A wait of ours is not the provider's doing (diegosouzapw/OmniRoute#9164). */
    @Test
    void ourOwnRefusalHoldsNobody() {
        ProjectClient first = installed("rpm: {amount: 1, burst: 60s}");
        Budget.take(first, CALL).settle(new Usage(10, 0, 0, 5));

        assertThat(Budget.refusal(first, CALL).kind()).isEqualTo(Refusal.Kind.WAIT);
        assertThat(Budget.refusal(process(), CALL).kind()).isEqualTo(Refusal.Kind.WAIT);
        assertThat(first.tryAcquire(Call.of("o-1"))).isInstanceOf(Decision.Granted.class);
    }
}
