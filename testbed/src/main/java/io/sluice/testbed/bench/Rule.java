package io.sluice.testbed.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * A ratio Sluice has to reach: its number over a reference's, both of one run on one machine.
 *
 * @param atMost whether the ratio has to be at most {@code reach}, or at least
 * @param aim better than {@code reach}; missing it fails nothing
 */
record Rule(
        String what,
        String reference,
        int threads,
        ToDoubleFunction<Sample> number,
        boolean atMost,
        double reach,
        @Nullable Double aim) {

    static final ToDoubleFunction<Sample> COMMANDS = Sample::commandMicros;

    /** The rules of {@code bench pairs}. Three buckets guard less than Sluice: alone, it may cost a little more. */
    static List<Rule> pairs(int threads) {
        return List.of(
                new Rule("Redis CPU a pair", Bucket4jPairs.LABEL, threads, COMMANDS, true, 0.4, null),
                new Rule("Redis CPU a pair", Bucket4jPairs.LABEL, 1, COMMANDS, true, 1.3, null),
                new Rule("pairs/s", Bucket4jPairs.LABEL, threads, Sample::pairsPerSecond, false, 12, 20.0),
                new Rule("pairs/s", NoOp.LABEL, threads, Sample::pairsPerSecond, false, 0.45, 0.6),
                new Rule("acquire p50", NoOp.LABEL, 1, Sample::acquireP50, true, 1.5, null));
    }

    Verdict judge(List<Series> measured) {
        return new Verdict(this, ratio(measured, number));
    }

    /** Sluice's over the reference's, of another number too. */
    Spread ratio(List<Series> measured, ToDoubleFunction<Sample> number) {
        return find(measured, SluicePairs.LABEL).ratio(find(measured, reference), number);
    }

    Bound bound() {
        return new Bound(atMost, reach, aim);
    }

    private Series find(List<Series> measured, String contender) {
        return measured.stream()
                .filter(series ->
                        series.threads() == threads && series.contender().equals(contender))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("not measured: " + contender + " at " + threads));
    }
}
