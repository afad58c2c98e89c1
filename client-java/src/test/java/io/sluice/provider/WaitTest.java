package io.sluice.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Rejection.Kind;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WaitTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                // Whole seconds; also beyond the minute that some SDKs obey.
                "retry-after: 12; 12000",
                "retry-after: 60; 60000",
                "retry-after: 61; 61000",
                // Decimals, though the standard has none.
                "retry-after: 1.5; 1500",
                "Retry-After:  7 ; 7000",
                // Zero asks for the caller's own least wait; it is not "absent".
                "retry-after: 0; 0",
                // The three forms of a date, 30 s ahead.
                "retry-after: Mon, 24 Aug 2026 12:00:30 GMT; 30000",
                "retry-after: Monday, 24-Aug-26 12:00:30 GMT; 30000",
                "retry-after: Mon Aug 24 12:00:30 2026; 30000",
                // A date in the past.
                "retry-after: Mon, 24 Aug 2026 11:59:30 GMT; 0",
                // Milliseconds win (openai/openai-node#1840), with decimals too.
                "retry-after-ms: 1500|retry-after: 9; 1500",
                "retry-after-ms: 374.2|retry-after: 1; 375",
                // Junk milliseconds do not hide good seconds.
                "retry-after-ms: NaN|retry-after: 9; 9000",
                // Said twice, or folded into one: the longer.
                "retry-after: 3|retry-after: 8; 8000",
                "retry-after: 3, 8; 8000",
                "RETRY-AFTER: 3|Retry-After: soon; 3000"
            })
    void statedWaitsHaveManyForms(String headers, long millis) {
        assertThat(stated(headers).length()).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "retry-after: soon",
                "retry-after: NaN",
                "retry-after: Infinity",
                "retry-after: -1",
                "retry-after: -0.5",
                "retry-after:",
                "retry-after: 1e3",
                "retry-after: 0x10",
                "retry-after: 12s",
                "retry-after: Mon, 24 Foo 2026 12:00:30 GMT",
                "retry-after-ms: NaN",
                "retry-after-ms: -5",
                "x-other: 5"
            })
    void junkIsAbsentNotZero(String headers) {
        assertThat(stated(headers)).isNull();
    }

    /** Both ends on the provider's clock: ours may be hours off. */
    @Test
    void aDateIsTakenFromTheAnswersOwnDate() {
        Heard heard = Heard.of(
                Told.answer(429, "date: Mon, 24 Aug 2026 09:00:00 GMT|retry-after: Mon, 24 Aug 2026 09:00:30 GMT", ""));

        assertThat(Wait.stated(heard.headers(), heard.at()).length()).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void absurdLengthsAreCutByKind() {
        Wait absurd = stated("retry-after: 999999999999999999999");

        assertThat(absurd.cappedFor(Kind.REQUESTS).length()).isEqualTo(Duration.ofDays(1));
        assertThat(absurd.cappedFor(Kind.DAILY).length()).isEqualTo(Duration.ofDays(2));
        assertThat(absurd.cappedFor(Kind.SPEND).length()).isEqualTo(Duration.ofDays(32));
    }

    @Test
    void everyKindHasACap() {
        assertThat(Arrays.stream(Kind.values())
                        .map(kind -> new Wait(Spans.MAX, "").cappedFor(kind).length()))
                .allMatch(length -> length.compareTo(Duration.ofDays(32)) <= 0);
    }

    @Test
    void unknownHeadersStateNothing() {
        assertThat(Wait.stated(new Headers(null), Told.NOW)).isNull();
        assertThat(Wait.stated(new Headers(Map.of()), Told.NOW)).isNull();
    }

    private static Wait stated(String headers) {
        return Wait.stated(new Headers(Told.headers(headers)), Told.NOW);
    }
}
