package io.sluice.testbed.fleet;

import java.util.Collection;
import java.util.List;

/** The few statistics a report needs. */
public final class Statistics {
    private Statistics() {}

    /**
     * Jain's index of fairness: 1 if all have the same, 1/n if one has everything. Nobody having anything is fair: 1.
     * (Jain, Chiu, Hawe: A Quantitative Measure of Fairness, DEC-TR-301, 1984.) Example: 1, 2, 3 give 36/42 = 0.857.
     */
    public static double jain(Collection<? extends Number> shares) {
        double sum = 0;
        double squares = 0;
        for (Number number : shares) {
            double share = number.doubleValue();
            sum += share;
            squares += share * share;
        }
        return squares == 0 ? 1 : sum * sum / (shares.size() * squares);
    }

    /**
     * The nearest-rank percentile of sorted values, 0 if there are none. Example: the 50th of 1, 2, 3, 4 is 2, the 99th
     * is 4.
     */
    public static long percentile(List<Long> sorted, double percent) {
        if (sorted.isEmpty()) {
            return 0;
        }
        int rank = (int) Math.ceil(percent / 100 * sorted.size());
        return sorted.get(Math.max(rank, 1) - 1);
    }
}
