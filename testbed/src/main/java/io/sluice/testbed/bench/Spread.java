package io.sluice.testbed.bench;

import java.util.Arrays;

/** The same number measured several times. {@code 3, 1, 2} is median 2, 1 to 3. */
record Spread(double median, double min, double max) {

    /** @throws IllegalArgumentException if there is none */
    static Spread of(double... values) {
        if (values.length == 0) {
            throw new IllegalArgumentException("no values");
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Spread(median, sorted[0], sorted[sorted.length - 1]);
    }
}
