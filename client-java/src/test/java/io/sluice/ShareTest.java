package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShareTest {
    @ParameterizedTest
    @CsvSource(textBlock = """
            # slots, hosts, of each host in the order of their ids
            64, 3, 17 17 17
            10, 4, 2 2 2 2
            5,  3, 2 1 1
            5,  10, 1 1 1 1 0 0 0 0 0 0
            1,  1, 0
            2,  1, 1
            0,  2, 0 0
            """)
    void slotsArePartedInWholeNumbers(long slots, int hosts, String expected) {
        assertThat(LongStream.range(0, hosts).map(rank -> new Share(hosts, rank).slots(slots)))
                .containsExactlyElementsOf(
                        Arrays.stream(expected.split(" ")).map(Long::valueOf).toList());
    }

    @Test
    void allOfThemTogetherAreFourFifthsRoundedDown() {
        for (long slots = 0; slots < 300; slots++) {
            for (long hosts = 1; hosts < 40; hosts++) {
                long of = hosts;
                long all = slots;
                assertThat(LongStream.range(0, hosts)
                                .map(rank -> new Share(of, rank).slots(all))
                                .sum())
                        .isEqualTo(slots * 4 / 5);
            }
        }
        assertThat(new Share(1, 0).slots(Long.MAX_VALUE)).isPositive();
    }

    @Test
    void whoDoesNotKnowHowManyThereAreHasNone() {
        assertThat(Share.NONE.slots(1_000)).isZero();
        assertThat(Share.NONE.part()).isZero();
        assertThat(new Share(4, 1).part()).isEqualTo(0.2);
    }
}
