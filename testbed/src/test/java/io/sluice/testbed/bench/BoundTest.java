package io.sluice.testbed.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BoundTest {
    /** What is just reached is met; what is no number at all is not. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            at most  | 600  | 600 | true  | met
            at most  | 600  | 618 | false | missed by 3.0 %
            at most  | 2    | 1.1 | true  | met
            at least | 0.98 | 1   | true  | met
            at least | 0.98 | 0.5 | false | missed by 49.0 %
            at most  | 0.1  | NaN | false | missed by NaN %
            """)
    void saysWhetherANumberIsReached(String way, double reach, double number, boolean met, String words) {
        Bound bound = way.equals("at most") ? Bound.atMost(reach) : Bound.atLeast(reach);

        assertThat(bound.holds(number)).isEqualTo(met);
        assertThat(bound.words(number)).isEqualTo(words);
    }

    @Test
    void theMedianIsJudged() {
        Reached reached = new Reached("µs", Bound.atMost(2), Spread.of(1, 1.9, 9), 1, "");

        assertThat(reached.met()).isTrue();
        assertThat(reached.reach()).isEqualTo("≤ 2");
        assertThat(reached.words()).isEqualTo("met");
    }

    @Test
    void whatIsOnlyToldIsNeverMissed() {
        Reached told = new Reached("calls/s", null, Spread.of(0), 0, "");

        assertThat(told.met()).isTrue();
        assertThat(told.reach()).isEmpty();
        assertThat(told.words()).isEmpty();
    }
}
