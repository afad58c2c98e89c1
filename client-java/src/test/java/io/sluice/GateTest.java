package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class GateTest {
    private static final long WIDTH = 5;

    /** Against all that was ever added, a long time. */
    @Test
    void remembersTheLastMinuteRoundedUp() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        long now = -1_000;
        Gate gate = new Gate(WIDTH, now);
        List<long[]> all = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            now += random.nextInt(12);
            long units = random.nextInt(100);
            gate.add((double) units, now);
            all.add(new long[] {now, units});

            long most = random.nextInt(1_500);
            long wait = gate.waitNs((double) most, now);
            assertThat(remembered(all, now + wait))
                    .as("seed %s, after the wait", seed)
                    .isLessThanOrEqualTo(most);
            if (wait > 0) {
                assertThat(remembered(all, now + wait - 1))
                        .as("seed %s, sooner", seed)
                        .isGreaterThan(most);
            }
        }
    }

    private static long remembered(List<long[]> all, long now) {
        long oldest = Math.floorDiv(now, WIDTH) - 12;
        return all.stream()
                .filter(one -> Math.floorDiv(one[0], WIDTH) >= oldest)
                .mapToLong(one -> one[1])
                .sum();
    }
}
