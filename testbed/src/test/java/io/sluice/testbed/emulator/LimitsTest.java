package io.sluice.testbed.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LimitsTest {

    @Test
    void readsAnyOfThemInAnyOrder() {
        assertThat(Limits.parse("concurrency=4, rpm=50")).isEqualTo(new Limits(50L, null, null, 4L));
        assertThat(Limits.parse("rpm=0,itpm=1,otpm=1000000000"))
                .isEqualTo(new Limits(0L, 1L, 1_000_000_000L, null))
                .hasToString("rpm=0,itpm=1,otpm=1000000000");
        assertThat(Limits.parse("usd=0.05,tpd=7,rpd=6,tpm=5"))
                .isEqualTo(new Limits(null, null, null, 5L, 6L, 7L, 50_000L, null))
                .hasToString("tpm=5,rpd=6,tpd=7,usd=0.05");
        assertThat(Limits.parse("usd=500")).hasToString("usd=500");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rps=5           | unknown limit 'rps': known are rpm, itpm, otpm, tpm, rpd, tpd, usd, concurrency
            ''              | unknown limit '': known are rpm, itpm, otpm, tpm, rpd, tpd, usd, concurrency
            rpm=            | limit rpm is no whole number: ''
            rpm             | limit rpm is no whole number: ''
            itpm=2M         | limit itpm is no whole number: '2M'
            otpm=-1         | limit otpm must be 0 to 1000000000: -1
            usd=0.0000001   | limit usd is no amount of dollars with at most 6 decimals: '0.0000001'
            usd=x           | limit usd is no amount of dollars with at most 6 decimals: 'x'
            usd=1000001     | limit usd must be 0 to 1000000: 1000001
            tpd=2000000000  | limit tpd must be 0 to 1000000000: 2000000000
            overload=1      | unknown limit 'overload': known are rpm, itpm, otpm, tpm, rpd, tpd, usd, concurrency
            rpm=1,rpm=2     | limit rpm is given twice
            """)
    void namesWhatItCannotRead(String text, String message) {
        assertThatThrownBy(() -> Limits.parse(text)).hasMessage(message);
    }
}
