package io.sluice;

import java.util.List;
import java.util.Map;

/**
 * What all hosts did in one project since it was installed: numbers that only grow.
 *
 * @param permits by class and outcome: granted, settled, cancelled, throttled, expired or refused
 * @param waits by class and team, the policy's teams or {@code other}: from asking to the permit
 * @param rejections the provider's "no"s by class and {@link Rejection.Kind#label}
 * @param tokens by class and type: input, cache_read, cache_write or output
 * @param usageMissing permits settled with a part unknown, so that the estimate stood
 * @param leaseLost permits whose holder was told that their lease was lost
 * @param rare events that Redis itself counts, by the names in {@code lua/README.md}, such as {@code clock_steps}
 */
public record Counters(
        Map<Labels, Long> permits,
        Map<Labels, Waits> waits,
        Map<Labels, Long> rejections,
        Map<Labels, Long> tokens,
        long usageMissing,
        long leaseLost,
        Map<String, Long> rare) {

    /** The upper ends, inclusive, of all but the last of {@link Waits#counts}, in ms; the last has none. */
    public static final List<Long> WAIT_BOUNDS_MS =
            List.of(1L, 5L, 25L, 100L, 250L, 1_000L, 2_500L, 5_000L, 10_000L, 30_000L, 60_000L, 300_000L, 600_000L);

    /** A class ({@code unknown}: the call matched none), and a second word: an outcome, a kind, a type or a team. */
    public record Labels(String modelClass, String name) {}

    /**
     * A histogram.
     *
     * @param counts how many waits ended in each part, each wait in one; one more than there are bounds
     * @param sumMs of them all
     */
    public record Waits(List<Long> counts, long sumMs) {
        public long count() {
            return counts.stream().mapToLong(Long::longValue).sum();
        }
    }
}
