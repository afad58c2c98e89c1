package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.PolicyView.Resolved;
import io.sluice.Rejection.Kind;
import io.sluice.Rejection.Scope;
import io.sluice.Store.Layout;
import io.sluice.Store.Observation;
import io.sluice.Store.StoredPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What a provider's answers mean for the fleet. */
class LessonsTest {
    private static final long GRANTED = 7;
    private static final long MINUTE_US = 60_000_000;
    private static final long FOREVER = Store.UNTIL_RELEASED;

    private static final String POLICY = """
            project: acme
            provider: anthropic
            classes:
              - {name: turbo, models: [m-*], when: {speed: fast}, limits: {itpm: 9000, rpm: 5}}
              - {name: m, models: [m-*, n-*], limits: {rpm: 60, itpm: 50000, otpm: 8000}}
              - name: found
                models: [f-*]
                limits:
                  rpm: {adaptive: {start: 10, max: 100}}
                  itpm: {adaptive: {start: 1000, max: 100000}}
                  otpm: 4000
              - name: odd
                models: [o-*]
                limits: {tpm: {adaptive: {start: 1000, max: 100000}}}
            limits: {tpm: 90000, rpd: {amount: 20000, window: refill}}
            workspaces: [{name: w, classes: [{name: m, limits: {itpm: 20000}}]}]
            """;

    private static final Call CALL = Call.of("m-1");

    static Resolved resolved(String text, Call call) {
        List<Layout> layouts = new ArrayList<>();
        for (ScopeLimits scope : Policy.parse(text).scopes()) {
            List<String> names = scope.refills().stream().map(RefillLimit::name).toList();
            layouts.add(new Layout(
                    scope.scope(), names, names.stream().map(name -> true).toList()));
        }
        PolicyView view = new PolicyView("acme", new StoredPolicy("1:e", text, layouts));
        return Objects.requireNonNull(view.resolve(call, new Learning(new FakeStore(), "acme", () -> {})));
    }

    private static Resolved resolved(Call call) {
        return resolved(POLICY, call);
    }

    private static List<Observation> of(Rejection rejection, Call call) {
        return Lessons.ofRejection(rejection, resolved(call), GRANTED);
    }

    private static Observation hold(String scope, long wait, long most, Kind kind, boolean retryable) {
        return new Observation.Hold(scope, wait, most, kind.label(), retryable, GRANTED, "");
    }

    // ---- rejections

    /** Of each kind with a stated wait of a minute, and of no request but its own: the clamp in minutes, -1 for none. */
    @ParameterizedTest
    @CsvSource({
        "REQUESTS,     60",
        "INPUT,        60",
        "OUTPUT,       60",
        "TOKENS,       60",
        "IMAGES,       60",
        "CONCURRENCY,  60",
        "OVERLOAD,     10",
        "DAILY,        1500", // 25 h: a day, and what clocks differ
        "PLAN_WINDOW,  11520", // 8 days
        "SPEND,        46080", // 32 days
        "CREDITS,      -1"
    })
    void aRejectionHoldsItsClassOrTheProjectAndNeverForLongerThanItsKindAllows(Kind kind, long minutes) {
        long most = minutes < 0 ? FOREVER : minutes * MINUTE_US;
        Duration stated = Duration.ofMinutes(1);

        assertThat(of(new Rejection(kind, Scope.CLASS, true, stated), CALL))
                .containsExactly(hold("c:m", MINUTE_US, most, kind, true));
        assertThat(of(new Rejection(kind, Scope.PROJECT, false, stated), CALL))
                .containsExactly(hold("p", MINUTE_US, most, kind, false));
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"INVALID", "UNSATISFIABLE", "NOT_PROVISIONED", "SERVER"})
    void whatIsWrongWithOneRequestPausesNobody(Kind kind) {
        assertThat(of(new Rejection(kind, Scope.PROJECT, true, Duration.ofSeconds(9)), CALL))
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void whatReachesNoFurtherThanTheRequestOrItsCallerPausesNobody(Kind kind) {
        assertThat(of(new Rejection(kind, Scope.REQUEST, true, Duration.ofSeconds(9)), CALL))
                .isEmpty();
        assertThat(of(new Rejection(kind, Scope.CALLER, true, Duration.ofSeconds(9)), CALL))
                .isEmpty();
    }

    /** The fleet backs off together where nothing says how long, and stops where waiting does not help. */
    @Test
    void whatStatesNoWaitIsBackedOffFromOrHeldUntilSomebodyReleasesIt() {
        assertThat(of(new Rejection(Kind.OVERLOAD, Scope.CLASS, true, null), CALL))
                .containsExactly(hold("c:m", Observation.NOT_STATED, 10 * MINUTE_US, Kind.OVERLOAD, true));
        assertThat(of(new Rejection(Kind.INPUT, Scope.CLASS, true, Duration.ZERO), CALL))
                .as("a moment that is past")
                .containsExactly(hold("c:m", Observation.NOT_STATED, 60 * MINUTE_US, Kind.INPUT, true));
        assertThat(of(new Rejection(Kind.CREDITS, Scope.PROJECT, false, null), CALL))
                .containsExactly(hold("p", FOREVER, FOREVER, Kind.CREDITS, false));
        assertThat(of(new Rejection(Kind.SPEND, Scope.PROJECT, false, null), CALL))
                .containsExactly(hold("p", FOREVER, FOREVER, Kind.SPEND, false));
    }

    /** The fast pool is full; the ordinary one is not. */
    @Test
    void aFastCallsRejectionPausesTheFastClassOrNobody() {
        Rejection rejection = new Rejection(Kind.INPUT, Scope.CLASS, true, Duration.ofMinutes(1));

        assertThat(of(rejection, Call.of("m-1").speed("fast")))
                .containsExactly(hold("c:turbo", MINUTE_US, 60 * MINUTE_US, Kind.INPUT, true));
        assertThat(of(rejection, Call.of("o-1").speed("fast"))).isEmpty();
        assertThat(of(rejection, Call.of("o-1").speed("standard"))).isNotEmpty();
        assertThat(of(
                        new Rejection(Kind.CREDITS, Scope.PROJECT, false, null),
                        Call.of("o-1").speed("fast")))
                .as("money is one for all pools")
                .hasSize(1);
    }

    /** In the provider's own terms: of a workspace, or of a pool that the ordinary calls of a class do not use. */
    @ParameterizedTest
    @CsvSource({
        "workspace,               PROJECT, w:prod",
        "workspace+model,         CLASS,   w:prod|m",
        "org+model,               CLASS,   c:m",
        "org,                     PROJECT, p",
        "org+fast-pool,           CLASS,   ",
        "model+service_tier=flex, CLASS,   ",
        "org+model batch queue,   CLASS,   ",
    })
    void whatReachesLessThanAClassPausesNoMore(String reach, Scope scope, @Nullable String held) {
        String policy = """
                project: p
                classes: [{name: m, models: ["*"], limits: {rpm: 60}}]
                workspaces:
                  - {name: prod, limits: {concurrency: 9}, classes: [{name: m, limits: {rpm: 30}}]}
                  - {name: test}
                """;
        Reading refused = reading(
                new Rejection(Kind.INPUT, scope, true, Duration.ofMinutes(1)), List.of(), Map.of("pause_scope", reach));

        assertThat(scopes(Lessons.of(refused, resolved(policy, Call.of("m-1").workspace("prod")), GRANTED)))
                .isEqualTo(held == null ? List.of() : List.of(held));
        if (reach.startsWith("workspace")) {
            assertThat(scopes(
                            Lessons.of(refused, resolved(policy, Call.of("m-1").workspace("test")), GRANTED)))
                    .as("the policy has nothing of its own for it")
                    .isEqualTo(List.of(scope == Scope.PROJECT ? "p" : "c:m"));
        }
    }

    private static List<String> scopes(List<Observation> all) {
        return all.stream().map(one -> ((Observation.Hold) one).scope()).toList();
    }

    @Test
    void aRejectionCutsTheAmountsThatAreBeingFoundAndThatItIsAbout() {
        assertThat(less(Kind.REQUESTS, "f-1")).containsExactly("rpm");
        assertThat(less(Kind.INPUT, "f-1")).containsExactly("itpm");
        assertThat(less(Kind.OUTPUT, "f-1")).as("about one that is known").isEmpty();
        assertThat(less(Kind.TOKENS, "f-1")).as("about none there is").containsExactlyInAnyOrder("rpm", "itpm");
        assertThat(less(Kind.TOKENS, "o-1")).containsExactly("tpm");
        assertThat(less(Kind.REQUESTS, "o-1")).as("a 429 that says nothing").containsExactly("tpm");
        assertThat(less(Kind.OVERLOAD, "f-1")).isEmpty();
        assertThat(less(Kind.REQUESTS, "m-1")).isEmpty();
    }

    private static List<String> less(Kind kind, String model) {
        return of(new Rejection(kind, Scope.CLASS, true, null), Call.of(model)).stream()
                .filter(Observation.Less.class::isInstance)
                .map(one -> ((Observation.Less) one).limit())
                .toList();
    }

    @Test
    void aRefusedRiseSlowsItsScopeDown() {
        Rejection rejection = new Rejection(Kind.ACCELERATION, Scope.CLASS, true, Duration.ofSeconds(30));

        assertThat(of(rejection, CALL))
                .containsExactly(
                        hold("c:m", 30_000_000, 60 * MINUTE_US, Kind.ACCELERATION, true),
                        new Observation.Slow("c:m", 0, 0, 0, GRANTED));
        assertThat(Lessons.of(
                        reading(
                                rejection,
                                List.of(),
                                Map.of("ramp_limit", 10_000L, "ramp_next", 20_000L, "unit", "input tokens per minute")),
                        resolved(CALL),
                        GRANTED))
                .contains(new Observation.Slow("c:m", 200_000, 400_000, 30_000_000, GRANTED));
    }

    /** Where a policy only watches, calls of no class are admitted; they have none to hold. */
    @Test
    void aCallOfNoClassHoldsTheProjectOrNothing() {
        Resolved call = resolved("{project: p, mode: shadow, classes: [{name: m, models: [m]}]}", Call.of("other"));

        assertThat(Lessons.ofRejection(new Rejection(Kind.INPUT, Scope.CLASS, true, null), call, GRANTED))
                .isEmpty();
        assertThat(Lessons.ofRejection(new Rejection(Kind.CREDITS, Scope.PROJECT, false, null), call, GRANTED))
                .hasSize(1);
    }

    // ---- subscriptions

    static Reading reading(@Nullable Rejection rejection, List<PlanWindow> windows, Map<String, Object> explanation) {
        return new Reading(rejection, Usage.UNKNOWN, false, 0, List.of(), windows, null, explanation);
    }

    @Test
    void aSubscriptionPausesBeforeItsWindowIsUsedUp() {
        List<PlanWindow> windows = List.of(
                new PlanWindow("5h", 0.949, Duration.ofHours(5), Duration.ofHours(1), false),
                new PlanWindow("7d", 0.95, Duration.ofDays(7), Duration.ofHours(55), false),
                new PlanWindow("7d_oi", null, Duration.ofDays(7), Duration.ofHours(55), false));

        assertThat(Lessons.of(reading(null, windows, Map.of()), resolved(CALL), GRANTED))
                .as("an API account")
                .isEmpty();
        assertThat(Lessons.of(
                        reading(null, windows, Map.of()),
                        resolved(POLICY.replace("provider: anthropic", "account: subscription"), CALL),
                        GRANTED))
                .containsExactly(new Observation.Hold(
                        "p", 55 * 60 * MINUTE_US, 8 * 24 * 60 * MINUTE_US, "plan_window", false, GRANTED, "window 7d"));
    }

    // ---- what is left

    private static final Instant DATE = Instant.ofEpochMilli(1_796_000_000_000L);

    private static List<Remaining> left(Call call, LimitReading... limits) {
        Reading reading = new Reading(null, Usage.UNKNOWN, true, 0, List.of(limits), List.of(), DATE, Map.of());
        return Remaining.of(reading, resolved(call));
    }

    private static LimitReading said(String dimension, @Nullable Long limit, @Nullable Long left) {
        return new LimitReading(dimension, limit, left, Duration.ofSeconds(48), 1_000);
    }

    @Test
    void aHeaderIsAboutALimitOfTheCallsClass() {
        assertThat(left(CALL, said("input", 50_000L, 30_000L)))
                .containsExactly(new Remaining(
                        "m",
                        new Observation.Left(
                                "c:m", "itpm", 30_000, 1_000, 50_000, 50_000, 48_000_000, DATE.toEpochMilli(), 0),
                        false));
    }

    /** Dimension, stated limit, and the limit of the policy that it is about. */
    @ParameterizedTest
    @CsvSource({
        "requests, 60,    c:m, rpm",
        "output,   9999,  c:m, otpm", // the policy has another: drift
        "tokens,   90000, p,   tpm", // the class has none
        "project_tokens, 1, p, tpm",
        "requests, 20000, p,   rpd", // what is short now may be the day's
        "input,    20000, w:w|m, itpm", // the workspace's, by its amount
        "input,    50000, c:m, itpm",
        "input,    7,     c:m, itpm"
    })
    void theLimitIsTheOneWhoseAmountTheHeaderNamesOrTheClassS(
            String dimension, long stated, String scope, String limit) {
        assertThat(left(CALL.workspace("w"), said(dimension, stated, 1L)))
                .singleElement()
                .satisfies(
                        one -> assertThat(one.left().scope() + " " + one.left().limit())
                                .isEqualTo(scope + " " + limit));
    }

    /** OpenRouter's one triple is its day's where the day is refused: read as a minute's it looked like drift. */
    @Test
    void whatIsUsedUpWhereTheDayIsRefusedIsTheDays() {
        Rejection day = new Rejection(Kind.DAILY, Scope.PROJECT, false, Duration.ofHours(7));
        Reading reading =
                new Reading(day, Usage.UNKNOWN, true, 0, List.of(said("requests", 50L, 0L)), List.of(), DATE, Map.of());
        assertThat(Remaining.of(reading, resolved(CALL)))
                .singleElement()
                .satisfies(one -> assertThat(one.left().limit()).isEqualTo("rpd"));
        Resolved noDay = resolved(
                "{project: p, provider: openrouter, classes: [{name: m, models: [m], limits: {rpm: 20}}]}",
                Call.of("m"));
        assertThat(Remaining.of(reading, noDay)).isEmpty();
    }

    @Test
    void whatThePolicyHasNoLimitForSaysNothing() {
        assertThat(left(CALL, said("burst", 50L, 3L), said("fast_input", 50L, 3L), said("tokens", null, null)))
                .isEmpty();
    }

    /** A fast call's answer carries the headers of both pools. */
    @Test
    void aClassWithAPoolOfItsOwnHearsOfThatPoolOnly() {
        assertThat(left(CALL.speed("fast"), said("input", 50_000L, 30_000L), said("fast_input", 9_000L, 100L)))
                .singleElement()
                .satisfies(one -> {
                    assertThat(one.left().scope()).isEqualTo("c:turbo");
                    assertThat(one.left().left()).isEqualTo(100);
                });
    }

    /** What is being found by trying has no amount that a header could differ from. */
    @Test
    void anAmountThatIsBeingFoundDoesNotDrift() {
        Observation.Left left =
                left(Call.of("f-1"), said("input", 50_000L, 30_000L)).get(0).left();

        assertThat(left.left()).isEqualTo(30_000);
        assertThat(left.statedAmount()).isZero();
        assertThat(left.policyAmount()).isZero();
    }

    @Test
    void lessThanAFifthIsLow() {
        assertThat(left(CALL, said("input", 50_000L, 9_999L)).get(0).isLow()).isTrue();
        assertThat(left(CALL, said("input", 50_000L, 10_000L)).get(0).isLow()).isFalse();
        assertThat(left(CALL, said("input", null, 3L)).get(0).isLow()).isFalse();
    }

    @Test
    void whatAHeaderDoesNotSayIsNotMadeUp() {
        Reading silent = new Reading(
                null,
                Usage.UNKNOWN,
                true,
                0,
                List.of(new LimitReading("input", 50_000L, null, null, 1)),
                List.of(),
                null,
                Map.of());

        assertThat(Remaining.of(silent, resolved(CALL)).get(0).left())
                .isEqualTo(new Observation.Left(
                        "c:m",
                        "itpm",
                        Observation.NOT_SAID,
                        1,
                        50_000,
                        50_000,
                        Observation.NOT_SAID,
                        Observation.NOT_SAID,
                        0));
    }

    /** Limits with weights in fractions are counted in finer units. */
    @Test
    void whatIsLeftIsInTheLimitsUnits() {
        Resolved call = resolved(
                "{project: p, provider: anthropic, classes: [{name: m, models: [m],"
                        + " limits: {itpm: {amount: 1000.5, weights: {cache_read: 0.25}}}}]}",
                Call.of("m"));
        Reading reading = new Reading(
                null, Usage.UNKNOWN, true, 0, List.of(said("input", 2_000L, 500L)), List.of(), DATE, Map.of());

        Observation.Left left = Remaining.of(reading, call).get(0).left();
        assertThat(left.left()).isEqualTo(50_000);
        assertThat(left.step()).isEqualTo(100_000);
        assertThat(left.statedAmount()).isEqualTo(20_000);
        assertThat(left.policyAmount()).isEqualTo(10_005);
    }
}
