package io.sluice.testbed.bench;

import org.HdrHistogram.Histogram;

/**
 * One contender in one round. Times are in µs.
 *
 * @param commandMicros Redis's time in commands a pair, by {@code INFO commandstats}
 * @param mainThreadMicros Redis's CPU a pair, reading and answering included, by {@code INFO cpu}
 */
record Sample(
        double pairsPerSecond,
        double commandMicros,
        double mainThreadMicros,
        double acquireP50,
        double acquireP99,
        double pairP50,
        double pairP99) {

    /** @throws IllegalStateException if the round was too short for a single pair */
    static Sample of(Load.Pairs load, double commandMicros, double mainThreadMicros) {
        long count = load.count();
        if (count == 0) {
            throw new IllegalStateException("not one pair in a round: measure longer");
        }
        return new Sample(
                count / load.seconds(),
                commandMicros / count,
                mainThreadMicros / count,
                micros(load.acquires(), 50),
                micros(load.acquires(), 99),
                micros(load.pairs(), 50),
                micros(load.pairs(), 99));
    }

    private static double micros(Histogram nanos, double percentile) {
        return nanos.getValueAtPercentile(percentile) / 1e3;
    }
}
