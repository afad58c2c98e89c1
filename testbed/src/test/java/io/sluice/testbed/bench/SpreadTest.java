package io.sluice.testbed.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SpreadTest {
    @Test
    void theMedianOfAnOddNumberIsTheMiddleOne() {
        assertThat(Spread.of(3, 1, 2)).isEqualTo(new Spread(2, 1, 3));
    }

    @Test
    void theMedianOfAnEvenNumberLiesBetweenTheMiddleTwo() {
        assertThat(Spread.of(8, 1, 2, 3)).isEqualTo(new Spread(2.5, 1, 8));
    }

    @Test
    void oneValueIsAllThree() {
        assertThat(Spread.of(7)).isEqualTo(new Spread(7, 7, 7));
    }

    @Test
    void ofNothingThereIsNone() {
        assertThatThrownBy(Spread::of).isInstanceOf(IllegalArgumentException.class);
    }
}
