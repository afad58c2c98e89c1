package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sluice.Rejection.Kind;
import io.sluice.Rejection.Scope;
import io.sluice.Store.Answer;
import io.sluice.Store.Effect;
import io.sluice.Store.Observation;
import io.sluice.Store.Observed;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the end of a permit teaches the fleet. */
class PermitLessonsTest {
    private static final long GRANTED = 1_234_567;
    private static final Rejection REJECTION = new Rejection(Kind.INPUT, Scope.CLASS, true, Duration.ofSeconds(12));

    private final FakeStore store = new FakeStore();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final SluiceClient client = new SluiceClient(store, Sluice.Options.DEFAULT.withMeters(registry));
    private final ProjectClient project = (ProjectClient) client.project("acme");

    @BeforeEach
    void grantsEverything() {
        store.acquire = ask -> new Answer.Granted(ask.permit().nonce(), 9_000_000, GRANTED, ask.memo(), false, null);
        store.observe = told -> CompletableFuture.completedStage(new Observed.Done(
                1,
                "1:e",
                told.all().stream()
                        .map(one -> (Effect) new Effect.Holding(12_000_000))
                        .toList()));
    }

    @AfterEach
    void close() {
        client.close();
    }

    private Permit permit() {
        return Budget.take(project, CALL);
    }

    private static Reading reading(@Nullable Rejection rejection, Usage usage, boolean complete) {
        return new Reading(rejection, usage, complete, 0, List.of(), List.of(), null, Map.of());
    }

    /** Whoever asks for a permit after this one's end must meet the hold. */
    @Test
    void aRejectionIsToldBeforeItsPermitIsSettled() {
        permit().throttled(REJECTION);
        assertThat(store.heard).containsExactly("observe", "throttled");
        assertThat(store.observed.get(0).all())
                .containsExactly(new Observation.Hold("c:m", 12_000_000, 3_600_000_000L, "input", true, GRANTED, ""));
        assertThat(registry.get("sluice.hold")
                        .tags("project", "acme", "scope", "c:m")
                        .gauge()
                        .value())
                .isEqualTo(1);
    }

    @Test
    void anAnswerThatIsARejectionIsToldOnce() {
        permit().settle(reading(REJECTION, Usage.UNKNOWN, false));
        assertThat(store.heard).containsExactly("observe", "throttled");
        assertThat(registry.get("sluice.rejections").counter().count()).isEqualTo(1);
    }

    /** Whoever settles while another does, such as a time-out's handler, teaches nothing on top. */
    @Test
    void ofTwoEndingsAtOnceOneTeaches() {
        Permit permit = permit();
        Reading answer = reading(REJECTION, Usage.UNKNOWN, false);
        var answered = store.observe;
        store.observe = told -> {
            store.observe = answered;
            permit.settleAsync(answer);
            permit.throttledAsync(REJECTION);
            return answered.apply(told);
        };
        permit.settle(answer);
        assertThat(store.heard).containsExactly("observe", "throttled");
        assertThat(registry.get("sluice.rejections").counter().count()).isEqualTo(1);
    }

    @Test
    void aPermitEndsWhateverBecomesOfItsLesson() {
        store.observe = told -> {
            throw new IllegalStateException("a test");
        };
        permit().throttled(REJECTION);
        assertThat(store.heard).containsExactly("observe", "throttled");
    }

    @Test
    void aRejectionToldTwiceIsOne() {
        Permit permit = permit();
        permit.throttled(REJECTION);
        permit.throttled(REJECTION);
        permit.settle(reading(REJECTION, Usage.UNKNOWN, false));
        assertThat(store.observed).hasSize(1);
    }

    @Test
    void whatARejectionUsedOrACutAnswerTeachesNothingOfItsLength() {
        permit().settle(reading(REJECTION, new Usage(1, 2, 3, 4), false));
        permit().settle(reading(null, new Usage(1, 2, 3, 4), false));
        permit().close();
        assertThat(project.observing.learning.hasNews()).isFalse();
    }

    @Test
    void whatACallUsedTeaches() {
        permit().settle(new Usage(1, 2, 3, 4));
        permit().settle(reading(null, new Usage(1, 2, 3, 4), true));
        client.close();
        assertThat(store.observed.stream().flatMap(told -> told.all().stream()))
                .allSatisfy(one -> assertThat(one).isInstanceOf(Observation.Learn.class));
        assertThat(store.observed.stream()
                        .flatMap(told -> told.all().stream())
                        .mapToLong(one -> ((Observation.Learn) one).input()))
                .as("fresh, cached and written")
                .satisfies(all ->
                        assertThat(all.stream().mapToLong(input -> input).sum()).isEqualTo(12));
    }

    @Test
    void aCancelledCallTeachesNothing() {
        permit().cancel();
        assertThat(project.observing.learning.hasNews()).isFalse();
        assertThat(store.observed).isEmpty();
    }
}
