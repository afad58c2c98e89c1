package io.sluice.testbed.bench;

import java.time.Duration;

/**
 * How long and how hard a run measures.
 *
 * @param length of one contender in one round, also of its warm-up: 50 ms to 5 min
 * @param rounds measured, each with every contender: 1 to 50
 * @param threads of the contended half; the other half has one: 2 to 256
 */
public record BenchOptions(Duration length, int rounds, int threads) {
    private static final Duration SHORTEST = Duration.ofMillis(50);
    private static final Duration LONGEST = Duration.ofMinutes(5);

    /** @throws IllegalArgumentException if a value is out of its range, naming it */
    public BenchOptions {
        if (length.compareTo(SHORTEST) < 0 || length.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("seconds must be 0.05 to 300, got " + length.toMillis() / 1000.0);
        }
        if (rounds < 1 || rounds > 50) {
            throw new IllegalArgumentException("rounds must be 1 to 50, got " + rounds);
        }
        if (threads < 2 || threads > 256) {
            throw new IllegalArgumentException("threads must be 2 to 256, got " + threads);
        }
    }
}
