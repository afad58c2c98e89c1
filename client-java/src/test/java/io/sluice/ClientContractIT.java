package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.sluice.Permit.How;
import io.sluice.Permit.Reserved;
import io.sluice.Refusal.Kind;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a user of the library is promised, against a Redis that is well. */
@WithRedis
@Tag("contract")
@Timeout(30)
class ClientContractIT {
    private final RedisServer redis;

    ClientContractIT(RedisServer redis) {
        this.redis = redis;
    }

    // ---- policies

    @Test
    void installingTheSameContentKeepsTheVersion() {
        try (Budget budget = Budget.of(redis, "rpm: 60")) {
            assertThat(budget.install("rpm: 60")).isEqualTo(1);
            assertThat(budget.install("rpm: 61")).isEqualTo(2);
            assertThat(budget.sluice.installed(budget.id).version()).isEqualTo(2);
            assertThat(budget.sluice.installed(budget.id).policy().toJson())
                    .isEqualTo(Budget.policy(budget.id, "rpm: 61").toJson());
        }
    }

    @Test
    void anUnknownProjectSaysHowToInstallIt() {
        try (Sluice sluice = Sluice.connect(redis.uri())) {
            Project nowhere = sluice.project("nowhere");

            OutageException thrown = catchThrowableOfType(OutageException.class, () -> nowhere.tryAcquire(CALL));

            assertThat(thrown.reason()).isEqualTo("no_project");
            assertThat(thrown)
                    .hasMessageContainingAll("nowhere", "sluice.install(policy)", "./sluice policy apply FILE --redis");
            assertThatThrownBy(() -> nowhere.acquire(CALL, Duration.ofMinutes(1)))
                    .isInstanceOf(OutageException.class);
        }
    }

    @Test
    void aPolicyThatAnotherProcessInstallsCountsFromTheNextCall() {
        try (Budget budget = Budget.of(redis, "concurrency: 1");
                Sluice other = Sluice.connect(redis.uri())) {
            budget.take();
            assertThat(budget.refusal(CALL).limit()).isEqualTo("concurrency");

            other.install(Budget.policy(budget.id, "concurrency: 2"));
            budget.take();
            other.install(Budget.policy(budget.id, "concurrency: 9, rpm: 0"));

            assertThat(budget.refusal(CALL).kind()).isEqualTo(Kind.CLOSED);
        }
    }

    // ---- a "no"

    @Test
    void whatDoesNotFitNowSaysWhenItWill() {
        try (Budget budget = Budget.of(redis, "rpm: {amount: 60, burst: 1s}")) {
            budget.take();

            Refusal refusal = budget.refusal(CALL);

            assertThat(refusal.kind()).isEqualTo(Kind.WAIT);
            assertThat(refusal.scope()).isEqualTo("c:m");
            assertThat(refusal.limit()).isEqualTo("rpm");
            assertThat(refusal.estimate()).isFalse();
            assertThat(refusal.retryAfter()).isBetween(Duration.ofMillis(1), Duration.ofSeconds(1));
            assertThat(refusal.message())
                    .isEqualTo(budget.id + ": rpm of c:m has room in "
                            + Objects.requireNonNull(refusal.retryAfter()).toMillis() + " ms");
        }
    }

    @Test
    void aWaitForASlotIsAnEstimate() {
        try (Budget budget = Budget.of(redis, "concurrency: 1")) {
            budget.take();

            Refusal refusal = budget.refusal(CALL);

            assertThat(refusal.kind()).isEqualTo(Kind.WAIT);
            assertThat(refusal.estimate()).isTrue();
            assertThat(refusal.message()).contains("concurrency of c:m", "about ");
        }
    }

    @Test
    void aCallLargerThanTheLimitIsToldBothNumbers() {
        try (Budget budget = Budget.of(redis, "itpm: 1000")) {
            Refusal refusal = budget.refusal(CALL.inputTokens(1_001));

            assertThat(refusal.kind()).isEqualTo(Kind.NEVER);
            assertThat(refusal.retryAfter()).isNull();
            assertThat(refusal.message()).contains("costs 1001 of itpm of c:m", "more than the 1000");
        }
    }

    @Test
    void aLimitOfNothingIsClosedAndAnUnknownModelIsNamed() {
        try (Budget budget = Budget.of(redis, "rpm: 0")) {
            assertThat(budget.refusal(CALL))
                    .extracting(Refusal::kind, Refusal::limit, Refusal::retryAfter)
                    .containsExactly(Kind.CLOSED, "rpm", null);
            Refusal unknown = budget.refusal(Call.of("other-1"));
            assertThat(unknown.kind()).isEqualTo(Kind.UNKNOWN_MODEL);
            assertThat(unknown.message()).contains("'other-1'");
        }
    }

    @Test
    void aRefusalTakesNothing() {
        try (Budget budget = Budget.of(redis, "concurrency: 1, " + Budget.THOUSAND)) {
            Permit only = budget.take();
            for (int i = 0; i < 20; i++) {
                budget.refusal(CALL);
            }
            only.cancel();

            assertThat(budget.levels().left()).containsEntry("calls", 1_000L);
        }
    }

    // ---- waiting

    @Test
    void waitsForItsTurnAndSaysHowLong() throws InterruptedException {
        try (Budget budget = Budget.of(redis, "rpm: {amount: 300, burst: 200ms}")) {
            budget.take();
            Permit second = budget.project.acquire(CALL, Duration.ofSeconds(5));

            assertThat(second.waited()).isBetween(Duration.ofMillis(50), Duration.ofSeconds(2));
        }
    }

    /** A wait known to be too long was slept through first, and refused only then (resilience4j/resilience4j#1283). */
    @Test
    void aWaitPastTheDeadlineIsRefusedAtOnce() {
        try (Budget budget = Budget.of(redis, "rpm: {amount: 6, burst: 10s}")) {
            budget.take();
            long start = System.nanoTime();

            RefusedException thrown = catchThrowableOfType(
                    RefusedException.class, () -> budget.project.acquire(CALL, Duration.ofSeconds(5)));

            assertThat(Budget.since(start)).isLessThan(Duration.ofSeconds(2));
            assertThat(thrown.refusal().kind()).isEqualTo(Kind.DEADLINE);
            assertThat(thrown.refusal().retryAfter()).isBetween(Duration.ofSeconds(8), Duration.ofSeconds(10));
            assertThat(thrown).hasMessageContainingAll("rpm of c:m", "later than the call may wait");
        }
    }

    @Test
    void aSlotThatDoesNotComeFreeIsRefusedAtTheDeadline() {
        try (Budget budget = Budget.of(redis, "concurrency: 1")) {
            budget.take();
            long start = System.nanoTime();

            RefusedException thrown = catchThrowableOfType(
                    RefusedException.class, () -> budget.project.acquire(CALL, Duration.ofMillis(300)));

            assertThat(Budget.since(start)).isBetween(Duration.ofMillis(300), Duration.ofSeconds(2));
            assertThat(thrown.refusal().kind()).isEqualTo(Kind.DEADLINE);
        }
    }

    @Test
    void noWaitIsAnAnswerNowAndANegativeOneIsAMistake() {
        try (Budget budget = Budget.of(redis, "concurrency: 1")) {
            budget.take();

            RefusedException thrown =
                    catchThrowableOfType(RefusedException.class, () -> budget.project.acquire(CALL, Duration.ZERO));

            assertThat(thrown.refusal().kind()).isEqualTo(Kind.WAIT);
            assertThatThrownBy(() -> budget.project.acquire(CALL, Duration.ofMillis(-1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("PT-0.001S");
            assertThatThrownBy(() -> budget.project.acquireAsync(CALL, Duration.ofSeconds(Long.MIN_VALUE)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    static Stream<Duration> eternities() {
        return Stream.of(
                Duration.ofSeconds(Long.MAX_VALUE), Duration.ofDays(365L * 300), Duration.ofNanos(Long.MAX_VALUE));
    }

    /** Long waits overflowed and gave up at once (resilience4j/resilience4j#1701). */
    @ParameterizedTest
    @MethodSource("eternities")
    void aWaitWithoutEndWaits(Duration maxWait) {
        try (Budget budget = Budget.of(redis, "concurrency: 1")) {
            Permit first = budget.take();
            CompletableFuture<Permit> second =
                    budget.project.acquireAsync(CALL, maxWait).toCompletableFuture();
            assertThat(second).isNotDone();

            first.cancel();

            assertThat(second).succeedsWithin(5, TimeUnit.SECONDS);
        }
    }

    @Test
    void closingTheClientEndsWhatWaits() {
        CompletableFuture<Permit> waiting;
        try (Budget budget = Budget.of(redis, "concurrency: 1")) {
            budget.take();
            waiting = budget.project.acquireAsync(CALL, Duration.ofMinutes(5)).toCompletableFuture();
            await().until(() -> ((ProjectClient) budget.project).waiting() == 1);
        }
        assertThat(waiting)
                .failsWithin(5, TimeUnit.SECONDS)
                .withThrowableThat()
                .withCauseInstanceOf(RefusedException.class)
                .withMessageContaining("closed");
    }

    // ---- ids

    @Test
    void theSameIdIsTheSamePermitWhileItLives() {
        try (Budget budget = Budget.of(redis, Budget.THOUSAND)) {
            Call call = CALL.id("job-1");
            Permit first = Budget.take(budget.project, call);
            Permit again = Budget.take(budget.project, call);

            assertThat(again.handle()).isEqualTo(first.handle());
            assertThat(budget.levels().used()).isEqualTo(1);
            assertThat(budget.levels().left()).containsEntry("calls", 999L);
            assertThat(first.settle(Usage.UNKNOWN).already()).isFalse();
            assertThat(again.settle(Usage.UNKNOWN).already()).isTrue();
        }
    }

    @Test
    void anIdInUseIsAConflictForOthersAndForOtherCalls() {
        try (Budget budget = Budget.of(redis, Budget.THOUSAND);
                Sluice other = Sluice.connect(redis.uri())) {
            Permit mine = Budget.take(budget.project, CALL.id("job-1"));

            Refusal body = budget.refusal(CALL.id("job-1").inputTokens(11));
            Refusal caller = Budget.refusal(other.project(budget.id), CALL.id("job-1"));

            assertThat(List.of(body.kind(), caller.kind())).containsOnly(Kind.CONFLICT);
            assertThat(body.message()).contains("'job-1'");
            assertThat(mine.settle(Usage.UNKNOWN).ended()).isEqualTo(How.SETTLED);
            Refusal ended = budget.refusal(CALL.id("job-1"));
            assertThat(ended.kind()).isEqualTo(Kind.ENDED);
            assertThat(ended.message()).contains("'job-1'", "settled");
        }
    }

    // ---- endings

    @Test
    void aPermitEndsOnceAndLaterEndingsSaySo() {
        try (Budget budget = Budget.of(redis, Budget.THOUSAND)) {
            Permit permit = budget.take();
            Permit.Ending first = permit.settle(new Usage(7, 1, 2, 3));

            assertThat(first).isEqualTo(new Permit.Ending(How.SETTLED, false, new Reserved(1, 7, 1, 2, 3)));
            Permit.Ending repeated = new Permit.Ending(How.SETTLED, true, first.charged());
            assertThat(permit.settle(new Usage(9, 9, 9, 9))).isEqualTo(repeated);
            assertThat(permit.cancel()).isEqualTo(repeated);
            assertThat(permit.throttled(rejection())).isEqualTo(repeated);
            permit.close();
            assertThat(budget.levels().left()).containsEntry("calls", 999L);
        }
    }

    @Test
    void eachEndingChargesWhatItSays() {
        try (Budget budget = Budget.of(redis, Budget.THOUSAND)) {
            assertThat(budget.take().cancel())
                    .isEqualTo(new Permit.Ending(How.CANCELLED, false, new Reserved(0, 0, 0, 0, 0)));
            assertThat(budget.levels().left()).containsEntry("calls", 1_000L);
            assertThat(budget.take().throttled(rejection()))
                    .isEqualTo(new Permit.Ending(How.THROTTLED, false, new Reserved(1, 0, 0, 0, 0)));
            Permit closed = budget.take();
            closed.close();
            assertThat(closed.settle(new Usage(1, 1, 1, 1)))
                    .isEqualTo(new Permit.Ending(How.SETTLED, true, closed.reserved()));
            assertThat(budget.levels()).matches(levels -> levels.used() == 0);
            assertThat(budget.levels().left()).containsEntry("calls", 998L);
        }
    }

    @Test
    void whatTheProviderDidNotTellStaysAtItsEstimate() {
        try (Budget budget = Budget.of(redis, Budget.THOUSAND)) {
            Permit permit = Budget.take(budget.project, CALL.cacheReadTokens(4));

            Permit.Ending ending = permit.settle(new Usage(null, null, 0L, 1L));

            assertThat(ending.charged()).isEqualTo(new Reserved(1, 10, 4, 0, 1));
        }
    }

    private static Rejection rejection() {
        return new Rejection(Rejection.Kind.REQUESTS, Rejection.Scope.CLASS, true, null);
    }
}
