package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.PolicyView.Resolved;
import io.sluice.Rejection.Kind;
import io.sluice.Rejection.Scope;
import io.sluice.Store.Observation;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What a caller's word for the provider's counts for. */
class HearsayTest {
    private static final long S = 1_000_000;
    private static final long MIN = 60 * S;
    private static final long GRANTED = 1_000 * MIN;
    private static final String POLICY = """
            project: acme
            provider: anthropic
            classes:
              - name: m
                models: [m-*]
                limits: {rpm: 60, itpm: {amount: 50000, adopt: true}, rpd: 1000, week: {amount: 9, per: 7d, of: requests}}
            """;
    private static final Resolved CALL = LessonsTest.resolved(POLICY, Call.of("m-1"));

    private long nowNs = 7;
    private final Hearsay hearsay = new Hearsay(() -> nowNs);

    private List<Observation> said(String reporter, Kind kind, boolean retryable, @Nullable Duration wait, long nowUs) {
        Rejection rejection = new Rejection(kind, Scope.PROJECT, retryable, wait);
        return hearsay.of(Lessons.ofRejection(rejection, CALL, GRANTED), reporter, GRANTED, nowUs);
    }

    private static Observation.Hold hold(long wait, long most, Kind kind, boolean retryable) {
        return new Observation.Hold("p", wait, most, kind.label(), retryable, GRANTED, "");
    }

    @ParameterizedTest
    @CsvSource({
        // kind, retryable, stated s, wait, most min
        "REQUESTS, true, 12, 12000000, 5",
        "INPUT, true, 86400, 86400000000, 5",
        "OVERLOAD, true, , -2, 5",
        "DAILY, false, 36000, 36000000000, 5",
        "PLAN_WINDOW, false, 600000, 600000000000, 5",
        "SPEND, false, , -1, 5",
        "CREDITS, false, , -1, 5",
    })
    void aHoldOfOnesWordLastsFiveMinutesAtMost(
            Kind kind, boolean retryable, @Nullable Long stated, long wait, long most) {
        Duration waitFor = stated == null ? null : Duration.ofSeconds(stated);
        assertThat(said("a", kind, retryable, waitFor, GRANTED + S))
                .containsExactly(hold(wait, most * MIN, kind, retryable));
    }

    /** Else whoever has a hundred permits could report one every five minutes, and nobody would ever start again. */
    @Test
    void noHoldReachesTenMinutesPastItsPermit() {
        assertThat(said("a", Kind.REQUESTS, true, Duration.ofDays(1), GRANTED + 9 * MIN))
                .containsExactly(hold(24 * 60 * MIN, MIN, Kind.REQUESTS, true));
        assertThat(said("a", Kind.REQUESTS, true, Duration.ofDays(1), GRANTED + 10 * MIN))
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"SPEND", "CREDITS"})
    void thatMoneyRanOutTakesTwo(Kind kind) {
        Observation doubted = hold(-1, 5 * MIN, kind, false);
        assertThat(said("a", kind, false, null, GRANTED + S)).containsExactly(doubted);
        assertThat(said("a", kind, false, null, GRANTED + S)).as("its own word").containsExactly(doubted);
        nowNs += TimeUnit.MINUTES.toNanos(10);
        assertThat(said("b", kind, false, null, GRANTED + S))
                .containsExactly(hold(-1, Store.UNTIL_RELEASED, kind, false));
    }

    @Test
    void theSecondMustSayTheSameAndSoon() {
        said("a", Kind.CREDITS, false, null, GRANTED + S);
        assertThat(said("b", Kind.SPEND, false, null, GRANTED + S))
                .containsExactly(hold(-1, 5 * MIN, Kind.SPEND, false));
        nowNs += TimeUnit.MINUTES.toNanos(10) + 1;
        assertThat(said("b", Kind.CREDITS, false, null, GRANTED + S))
                .containsExactly(hold(-1, 5 * MIN, Kind.CREDITS, false));
    }

    @Test
    void aDayIsNotTwoCallersToEnd() {
        said("a", Kind.DAILY, false, Duration.ofHours(9), GRANTED + S);
        assertThat(said("b", Kind.DAILY, false, Duration.ofHours(9), GRANTED + S))
                .containsExactly(hold(9 * 3_600 * S, 5 * MIN, Kind.DAILY, false));
    }

    // ---- what is left

    private List<Remaining> left(String reporter, LimitReading... limits) {
        Reading reading = new Reading(
                null, Usage.UNKNOWN, false, 0, List.of(limits), List.of(), Instant.ofEpochSecond(9), Map.of());
        return hearsay.left(Remaining.of(reading, CALL), CALL, reporter);
    }

    private static LimitReading limit(String dimension, long limit, long remaining) {
        return new LimitReading(dimension, limit, remaining, Duration.ofSeconds(30), 1);
    }

    @Test
    void whatIsLeftCountsWhereItComesBackWithinMinutes() {
        assertThat(left("a", limit("requests", 60, 3))).singleElement().satisfies(one -> {
            assertThat(one.left().limit()).isEqualTo("rpm");
            assertThat(one.left().left()).isEqualTo(3);
            assertThat(one.left().statedAmount()).isEqualTo(60);
        });
        assertThat(left("a", limit("requests", 1_000, 0)))
                .as("of the day, by its amount")
                .isEmpty();
    }

    /** With {@code adopt} one caller's header would set the amount for all. */
    @Test
    void whatALimitIsTakesTwoWhereThatIsAdopted() {
        assertThat(left("a", limit("input", 10, 5))).singleElement().satisfies(one -> {
            assertThat(one.left().left()).isEqualTo(5);
            assertThat(one.left().statedAmount()).isZero();
            assertThat(one.left().policyAmount()).isZero();
        });
        assertThat(left("a", limit("input", 10, 5)).get(0).left().statedAmount())
                .isZero();
        assertThat(left("b", limit("input", 11, 5)).get(0).left().statedAmount())
                .isZero();
        assertThat(left("b", limit("input", 10, 5)).get(0).left().statedAmount())
                .as("the latest word of each amount counts, and that is another's")
                .isEqualTo(10);
    }
}
