package io.sluice.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MomentsTest {
    private static final Instant NOW = Told.NOW;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Sun, 06 Nov 1994 08:49:37 GMT",
                "Sunday, 06-Nov-94 08:49:37 GMT",
                "Sun Nov  6 08:49:37 1994",
                // In any case, with the other name of the zone, and on whatever day of the week.
                "sun, 06 nov 1994 08:49:37 gmt",
                "Tue, 6 Nov 1994 08:49:37 UTC"
            })
    void httpDatesHaveThreeForms(String text) {
        assertThat(Moments.httpDate(text, NOW)).isEqualTo(Instant.parse("1994-11-06T08:49:37Z"));
    }

    @ParameterizedTest
    @CsvSource({
        // More than 50 years ahead is the last century's.
        "'Monday, 24-Aug-26 12:00:30 GMT', 2026-08-24T12:00:30Z",
        "'Monday, 24-Aug-76 12:00:30 GMT', 2076-08-24T12:00:30Z",
        "'Monday, 24-Aug-77 12:00:30 GMT', 1977-08-24T12:00:30Z",
        "'Wed, 31 Dec 2025 23:59:60 GMT', 2026-01-01T00:00:00Z"
    })
    void yearsOfTwoDigitsAndLeapSeconds(String text, Instant expected) {
        assertThat(Moments.httpDate(text, NOW)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "soon",
                "Sun, 31 Feb 1994 08:49:37 GMT",
                "Sun, 06 Nov 1994 08:49:37",
                "Sun, 06 Nov 1994 08:49:37 PST",
                "Sun, 06 Nov 1994 25:49:37 GMT",
                "Sun, 06 Foo 1994 08:49:37 GMT",
                "Sun, 06 Nov 99999999999 08:49:37 GMT",
                "2026-08-24T12:00:00Z"
            })
    void whatIsNoHttpDateIsNone(String text) {
        assertThat(Moments.httpDate(text, NOW)).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "2026-08-24T12:00:03Z, 2026-08-24T12:00:03Z",
        "2026-08-24T12:00:03.5z, 2026-08-24T12:00:03.500Z",
        // An offset is converted, not dropped (BerriAI/litellm#34896).
        "2026-08-01T00:00+09:00, 2026-07-31T15:00:00Z"
    })
    void internetTimesAreInstants(String text, Instant expected) {
        assertThat(Moments.rfc3339(text)).isEqualTo(expected);
    }

    @Test
    void secondsAndMillisecondsSince1970AreToldApartBySize() {
        Instant midnight = Instant.parse("2026-08-25T00:00:00Z");

        assertThat(Moments.epoch(1_787_616_000L)).isEqualTo(midnight);
        assertThat(Moments.epoch(1_787_616_000_000L)).isEqualTo(midnight);
        assertThat(Moments.epoch(60L)).isNull();
        assertThat(Moments.epoch(null)).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "'You will regain access on 2026-09-01 at 00:00 UTC.', 2026-09-01T00:00:00Z",
        "'spend limit reached (daily; resets 2026-08-25 00:00 UTC)', 2026-08-25T00:00:00Z",
        "'on 2026-13-45, no, on 2026-09-02', 2026-09-02T00:00:00Z"
    })
    void findsTheDateInASentence(String sentence, Instant expected) {
        assertThat(Moments.dateIn(sentence)).isEqualTo(expected);
    }

    /** An organisation's id is no date. */
    @Test
    void idsAreNoDates() {
        assertThat(Moments.dateIn("(org: 00000000-0000-4000-8000-0000000000aa)"))
                .isNull();
    }

    @Test
    void theNextMinuteIsNeverNow() {
        assertThat(Moments.nextMinute(NOW)).isEqualTo(NOW.plusSeconds(60));
        assertThat(Moments.nextMinute(NOW.plusMillis(1))).isEqualTo(NOW.plusSeconds(60));
    }

    /** Midnight in California is 07:00 or 08:00 UTC, and a day there may have 23 or 25 hours (mholzi/beatify#2452). */
    @Test
    void daysEndInTheirOwnZone() {
        ZoneId pacific = ZoneId.of("America/Los_Angeles");

        assertThat(Moments.nextDay(NOW, pacific)).isEqualTo(Instant.parse("2026-08-25T07:00:00Z"));
        assertThat(Moments.nextDay(Instant.parse("2026-12-01T12:00:00Z"), pacific))
                .isEqualTo(Instant.parse("2026-12-02T08:00:00Z"));
        Instant start = Moments.nextDay(Instant.parse("2026-10-31T12:00:00Z"), pacific);
        assertThat(Duration.between(start, Moments.nextDay(start, pacific))).isEqualTo(Duration.ofHours(25));
        assertThat(Moments.nextDay(NOW, ZoneOffset.UTC)).isEqualTo(Instant.parse("2026-08-25T00:00:00Z"));
    }

    @Test
    void monthsEndAtTheirEnd() {
        assertThat(Moments.nextMonth(NOW)).isEqualTo(Instant.parse("2026-09-01T00:00:00Z"));
        assertThat(Moments.nextMonth(Instant.parse("2026-12-31T23:59:59Z")))
                .isEqualTo(Instant.parse("2027-01-01T00:00:00Z"));
    }

    @Test
    void whatIsPastIsZeroAndWhatIsFarIsCut() {
        assertThat(Moments.between(NOW, NOW.minusSeconds(1))).isZero();
        assertThat(Moments.between(NOW, NOW.plusNanos(1))).isEqualTo(Duration.ofMillis(1));
        assertThat(Moments.between(NOW, Instant.MAX)).isEqualTo(Spans.MAX);
    }
}
