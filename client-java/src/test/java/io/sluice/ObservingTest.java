package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sluice.PolicyView.Resolved;
import io.sluice.Rejection.Kind;
import io.sluice.Rejection.Scope;
import io.sluice.Store.Effect;
import io.sluice.Store.Learned;
import io.sluice.Store.Observation;
import io.sluice.Store.Observations;
import io.sluice.Store.Observed;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a process tells the fleet, and when. */
class ObservingTest {
    private static final Instant DATE = Instant.ofEpochMilli(1_796_000_000_000L);
    private static final Rejection REJECTION = new Rejection(Kind.INPUT, Scope.CLASS, true, Duration.ofSeconds(12));

    private final FakeStore store = new FakeStore();
    private final FakeTimer timer = new FakeTimer();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final SluiceClient client = new SluiceClient(store, Sluice.Options.DEFAULT.withMeters(registry));
    private final PolicyCache policies = new PolicyCache(
            store, "acme", System::nanoTime, (known, stored) -> CompletableFuture.completedStage(false), view -> {});
    private final Observing observing = new Observing(client, "acme", policies, timer.service(), timer::nanoTime);
    private final Resolved call = LessonsTest.resolved(
            "{project: acme, provider: anthropic, classes: [{name: m, models: [m-*], limits: {itpm: 50000, rpm: 60}}]}",
            Call.of("m-1").agent("a"));
    private final Deque<CompletableFuture<Observed>> answers = new ArrayDeque<>();

    @BeforeEach
    void answersWaitForTheTest() {
        store.observe = told -> {
            CompletableFuture<Observed> answer = new CompletableFuture<>();
            answers.add(answer);
            return answer;
        };
    }

    @AfterEach
    void close() {
        client.close();
    }

    private static Observed done(Observations told) {
        List<Effect> effects = new ArrayList<>();
        for (Observation one : told.all()) {
            if (one instanceof Observation.Hold) {
                effects.add(new Effect.Holding(1));
            } else if (one instanceof Observation.Left) {
                effects.add(new Effect.Tightened(true, false, false));
            } else if (one instanceof Observation.Learn it) {
                effects.add(new Effect.Knows(
                        new Learned(it.modelClass(), "-", 40, 512, 0, 0),
                        new Learned(it.modelClass(), it.agent(), 40, 608, 0, 0)));
            } else {
                effects.add(new Effect.Changed(true));
            }
        }
        return new Observed.Done(1, "1:e", effects);
    }

    private void answerAll() {
        while (!answers.isEmpty()) {
            answers.remove().complete(done(store.observed.get(store.observed.size() - 1 - answers.size())));
        }
    }

    private void used(long output) {
        observing.learning.used("m", call.call(), new Usage(null, null, null, output));
    }

    private void left(long remaining, Instant date) {
        observing.answered(
                new Reading(
                        null,
                        Usage.UNKNOWN,
                        true,
                        0,
                        List.of(new LimitReading("input", 50_000L, remaining, null, 1)),
                        List.of(),
                        date,
                        Map.of()),
                call,
                5);
    }

    private Observation.Left toldLeft() {
        return (Observation.Left)
                store.observed.get(store.observed.size() - 1).all().get(0);
    }

    private double dropped() {
        return registry.counter("sluice.observations.dropped", "project", "acme")
                .count();
    }

    // ---- learning

    @Test
    void whatCallsUsedIsToldOnceASecondAndAddedUpInBetween() {
        used(10);
        timer.pass(0);
        assertThat(store.observed).hasSize(1);
        answerAll();
        for (int i = 0; i < 50; i++) {
            used(20);
            timer.pass(10);
        }
        timer.pass(499);
        assertThat(store.observed).hasSize(1);
        timer.pass(1);
        assertThat(store.observed).hasSize(2);
        assertThat(store.observed.get(1).all())
                .containsExactly(new Observation.Learn("m", "a", 0, 0, 0, 0, List.of(new Observation.Outputs(20, 50))));
        answerAll();
        assertThat(observing.learning.usual("m", "a").output()).isEqualTo(608);
    }

    @Test
    void whereNothingIsNewNothingIsSent() {
        used(10);
        timer.pass(0);
        answerAll();
        timer.pass(60_000);
        assertThat(store.observed).hasSize(1);
        assertThat(timer.alarms()).isZero();
    }

    @Test
    void oneTellingIsUnderWayAtATime() {
        used(10);
        timer.pass(0);
        used(20);
        left(40_000, DATE);
        timer.pass(5_000);
        assertThat(store.observed).hasSize(1);
        answerAll();
        timer.pass(0);
        assertThat(store.observed).hasSize(2);
        assertThat(store.observed.get(1).all()).hasSize(2);
    }

    @Test
    void moreAgentsThanOneTellingCarriesComeWithTheNext() {
        for (int i = 0; i < 100; i++) {
            observing.learning.used("m", Call.of("m-1").agent("a-" + i), new Usage(null, null, null, 5L));
        }
        timer.pass(0);
        answerAll();
        timer.pass(1_000);
        assertThat(store.observed).extracting(told -> told.all().size()).containsExactly(64, 36);
    }

    // ---- trouble

    @Test
    void whatRedisCannotHearIsDroppedAndCounted() {
        used(10);
        left(40_000, DATE);
        timer.pass(0);
        answers.remove().completeExceptionally(new OutageException("breaker", "a test's", null));
        assertThat(dropped()).isEqualTo(2);

        used(20);
        timer.pass(1_000);
        answers.remove().complete(new Observed.Lost("learn"));
        assertThat(dropped()).isEqualTo(3);
        assertThat(observing.learning.hasNews()).isFalse();
    }

    @Test
    void aHoldIsToldAgainThreeTimesAtMost() {
        observing.rejected(REJECTION, call, 5);
        answers.remove().completeExceptionally(new OutageException("timeout", "a test's", null));
        assertThat(store.observed).hasSize(2);
        answers.remove().completeExceptionally(new OutageException("timeout", "a test's", null));
        answers.remove().completeExceptionally(new OutageException("timeout", "a test's", null));
        assertThat(store.observed).hasSize(3);
        assertThat(dropped()).isEqualTo(1);
    }

    @Test
    void closingTellsTheRest() {
        used(10);
        timer.pass(0);
        answerAll();
        used(20);
        left(40_000, DATE);
        CompletableFuture<Void> closed = observing.close();
        assertThat(store.observed).hasSize(2);
        assertThat(store.observed.get(1).all()).hasSize(2);
        assertThat(closed).isNotDone();
        answerAll();
        assertThat(closed).succeedsWithin(Duration.ofSeconds(5));
        used(30);
        timer.pass(9_000);
        assertThat(store.observed).hasSize(2);
    }

    // ---- rejections

    @Test
    void aRejectionIsToldBeforeAnythingElse() {
        used(10);
        observing.rejected(REJECTION, call, 5);
        assertThat(store.observed).hasSize(1);
        assertThat(store.observed.get(0).all())
                .containsExactly(new Observation.Hold("c:m", 12_000_000, 3_600_000_000L, "input", true, 5, ""));
    }

    @Test
    void aRejectionThatPausesNobodyIsNotTold() {
        observing.rejected(new Rejection(Kind.INVALID, Scope.REQUEST, false, null), call, 5);
        assertThat(store.observed).isEmpty();
    }

    // ---- what is left

    @Test
    void ofManyAnswersTheNewestIsToldTwiceASecond() {
        left(40_000, DATE);
        timer.pass(0);
        answerAll();
        left(39_000, DATE.plusSeconds(2));
        left(45_000, DATE.plusSeconds(1)); // an older one that comes late
        left(39_500, DATE.plusSeconds(2)); // of one second the lower
        timer.pass(499);
        assertThat(store.observed).hasSize(1);
        timer.pass(1);
        assertThat(toldLeft().left()).isEqualTo(39_000);
        assertThat(toldLeft().ageUs()).isEqualTo(500_000);
        assertThat(registry.get("sluice.provider.remaining")
                        .tags("project", "acme", "class", "m", "limit", "itpm")
                        .gauge()
                        .value())
                .isEqualTo(39_500);
    }

    @Test
    void whereLittleIsLeftItIsToldSooner() {
        left(40_000, DATE);
        timer.pass(0);
        answerAll();
        left(9_000, DATE.plusSeconds(1));
        timer.pass(49);
        assertThat(store.observed).hasSize(1);
        timer.pass(1);
        assertThat(toldLeft().left()).isEqualTo(9_000);
    }
}
