package io.sluice.testbed.bench;

import java.time.Duration;
import java.util.List;

/**
 * How much {@code bench queue} does.
 *
 * @param sizes of the lines, ascending; the last is judged by the first
 * @param rounds in each of which every line is used in turn: 1 to 50
 * @param steps a line is used for in a round: 1 to 1,000
 * @param held permits that are weighed, and as many waiters: 100 to 50,000
 * @param turn how long calls go through a line that is never empty, in a round
 * @param idleWaiters how many wait to be watched
 * @param idle how long they are watched
 * @param grants of the flow that gets least, where fairness is measured: 10 to 100,000
 * @param seed of everything that is drawn by lot
 */
public record QueueOptions(
        List<Integer> sizes,
        int rounds,
        int steps,
        int held,
        Duration turn,
        int idleWaiters,
        Duration idle,
        int grants,
        long seed) {
    private static final List<Integer> SIZES = List.of(10, 1_000, 10_000);

    /** @throws IllegalArgumentException if a value is out of its range, naming it */
    public QueueOptions {
        sizes = List.copyOf(sizes);
        if (rounds < 1 || rounds > 50) {
            throw new IllegalArgumentException("rounds must be 1 to 50, got " + rounds);
        }
        if (sizes.isEmpty() || steps < 1 || held < 100 || grants < 10 || idle.isNegative() || idle.isZero()) {
            throw new IllegalArgumentException("there must be something to measure");
        }
    }

    /** What is promised, as it is promised: about two minutes. */
    public static QueueOptions full(int rounds, long seed) {
        return new QueueOptions(
                SIZES, rounds, 40, 10_000, Duration.ofSeconds(2), 1_000, Duration.ofSeconds(10), 2_000, seed);
    }

    int smallest() {
        return sizes.get(0);
    }

    int largest() {
        return sizes.get(sizes.size() - 1);
    }
}
