package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {
    @ParameterizedTest
    @CsvSource({"30, 30000", "30s, 30000", "250ms, 250", "5m, 300000", "2h, 7200000", "7d, 604800000"})
    void readsWhatPeopleWrite(String text, long ms) {
        assertThat(Durations.parse(text)).hasMillis(ms);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "s", "-5s", "5 parsecs", "1.5s", "99999999999s"})
    void saysWhatADurationLooksLike(String text) {
        assertThatThrownBy(() -> Durations.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("30s or 5m");
    }
}
