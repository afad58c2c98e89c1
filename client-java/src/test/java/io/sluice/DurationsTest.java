package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurationsTest {
    @ParameterizedTest
    @CsvSource({
        "250ms,   PT0.25S, 250ms",
        "1000ms,  PT1S,    1s",
        "90s,     PT1M30S, 90s",
        "60s,     PT1M,    1m",
        "60m,     PT1H,    1h",
        "24h,     PT24H,   1d",
        "7d,      PT168H,  7d",
        "0s,      PT0S,    0s"
    })
    void readsAndWritesDurations(String text, Duration duration, String normal) {
        assertThat(Durations.parse(text)).isEqualTo(duration);
        assertThat(Durations.text(duration)).isEqualTo(normal);
    }

    @ParameterizedTest
    @CsvSource({"''", "5", "s", "5 s", "-5s", "1.5s", "5sec", "PT5S", "1h30m", "9999999999s", "5S"})
    void refusesOtherDurations(String text) {
        assertThat(Durations.parse(text)).isNull();
    }
}
