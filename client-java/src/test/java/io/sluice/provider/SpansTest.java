package io.sluice.provider;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SpansTest {

    @ParameterizedTest
    @CsvSource({
        // Go durations; "m" is minutes, "ms" is not.
        "6ms, 6",
        "1m30.951s, 90951",
        "7m12s, 432000",
        "6m0s, 360000",
        "17ms, 17",
        "1.5s, 1500",
        "23h47m36.648s, 85656648",
        "0s, 0",
        "1d2h, 93600000",
        // Below a millisecond there is still something to wait for.
        "12\u00b5s, 1",
        "12\u03bcs, 1",
        "900us, 1",
        "1ns, 1",
        "0.9s, 900",
        // Google's, to the nanosecond, rounded up.
        "51820.638305887s, 51820639",
        "38.922534355s, 38923",
        // Azure: bare seconds.
        "64, 64000",
        "1.25, 1250",
        "' 7M12S ', 432000",
        // Absurd, but a length of time.
        "99999999999999999999h, 3153600000000"
    })
    void lengthsAreReadToTheMillisecondRoundedUp(String text, long millis) {
        assertThat(Spans.parse(text)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "soon",
                "-1",
                "-1s",
                "NaN",
                "Infinity",
                "1e3",
                "+5",
                ".5",
                "5.",
                "1m-2s",
                "5 s",
                "s",
                "1x",
                "1,5",
                "PT6M0S",
                "0x10",
                "1s2",
                "\u0661s"
            })
    void junkIsAbsentNotZero(String text) {
        assertThat(Spans.parse(text)).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Please try again in 374ms. | 374",
                "Please try again in 7m12s. | 432000",
                "Please try again in 1.2s. Contact us | 1200",
                "please TRY AGAIN IN 20s, 3 of 5 | 20000",
                "Please retry in 54.887755558s. | 54888",
                "Please retry after 26 seconds. | 26000",
                "Try again in 1 hour 3 minutes. | 3780000",
                "try again in a while; try again in 5 min | 300000"
            })
    void findsTheDelayInASentence(String sentence, long millis) {
        assertThat(Spans.after(sentence, "try again in", "retry in", "retry after"))
                .isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"try again in 5", "try again in", "try again in -3s", "try again in 3 monkeys", "nothing"})
    void aSentenceWithoutOneHasNone(String sentence) {
        assertThat(Spans.after(sentence, "try again in")).isNull();
    }

    @Test
    void aLongTextCostsNoMoreThanReadingIt() {
        String hostile = "try again in 1m".repeat(20_000) + "9".repeat(50_000);

        assertThat(Spans.after(hostile, "try again in")).isEqualTo(Duration.ofMinutes(1));
        assertThat(Spans.parse(hostile)).isNull();
    }
}
