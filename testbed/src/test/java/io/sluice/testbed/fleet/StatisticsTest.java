package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatisticsTest {
    @Test
    void jainIsOneForEqualSharesAndOneInNForOneTaker() {
        assertThat(Statistics.jain(List.of(7L, 7L, 7L, 7L))).isEqualTo(1);
        assertThat(Statistics.jain(List.of(9L, 0L, 0L, 0L))).isEqualTo(0.25);
        assertThat(Statistics.jain(List.of(1L, 2L, 3L))).isCloseTo(36.0 / 42, within(1e-12));
    }

    @Test
    void nobodyHavingAnythingIsFair() {
        assertThat(Statistics.jain(List.of(0L, 0L))).isEqualTo(1);
        assertThat(Statistics.jain(List.of())).isEqualTo(1);
    }

    @Test
    void aPercentileIsTheNearestRank() {
        List<Long> sorted = List.of(10L, 20L, 30L, 40L);

        assertThat(Statistics.percentile(sorted, 0)).isEqualTo(10);
        assertThat(Statistics.percentile(sorted, 50)).isEqualTo(20);
        assertThat(Statistics.percentile(sorted, 51)).isEqualTo(30);
        assertThat(Statistics.percentile(sorted, 99)).isEqualTo(40);
        assertThat(Statistics.percentile(List.of(), 99)).isZero();
    }
}
