package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SendsTest {
    private final Sends sends = new Sends();

    private void told(String retryCount) {
        sends.told(Map.of("X-Stainless-Retry-Count", List.of(retryCount)));
    }

    @Test
    void untoldItIsOne() {
        assertThat(sends.count()).isEqualTo(1);
        sends.begun();
        assertThat(sends.count()).isEqualTo(1);
        sends.told(Map.of());
        assertThat(sends.count()).as("the same one").isEqualTo(1);
    }

    @Test
    void twoCallersOfOnePermitSendTwo() {
        sends.begun();
        sends.begun();
        assertThat(sends.count()).isEqualTo(2);
    }

    @Test
    void eachOneToldOfCounts() {
        told("0");
        told("1");
        told("2");
        assertThat(sends.count()).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource({"2, 3", "0, 1", "' 1 ', 2", "abc, 1", "-4, 1", "'', 1", "2147483647, 1", "99999999999, 1"})
    void oneThatSaysHowManyWentBeforeCountsForThose(String retryCount, int count) {
        told(retryCount);
        assertThat(sends.count()).isEqualTo(count);
    }
}
