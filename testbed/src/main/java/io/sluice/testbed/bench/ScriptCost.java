package io.sluice.testbed.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * What one run of a script costs Redis.
 *
 * @param micros of CPU, by {@code INFO commandstats}
 * @param calls how often it called Redis
 */
record ScriptCost(double micros, double calls) {

    /** Of several runs of the same: the median of each number, because one run in a hundred is interrupted by something. */
    static ScriptCost median(List<ScriptCost> runs) {
        return new ScriptCost(median(runs, ScriptCost::micros), median(runs, ScriptCost::calls));
    }

    ScriptCost plus(ScriptCost other) {
        return new ScriptCost(micros + other.micros, calls + other.calls);
    }

    private static double median(List<ScriptCost> runs, ToDoubleFunction<ScriptCost> number) {
        return Spread.of(runs.stream().mapToDouble(number).toArray()).median();
    }
}
