package io.sluice.testbed.bench;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a number has to reach.
 *
 * @param atMost whether it has to be at most {@code reach}, or at least
 * @param aim better than {@code reach}; missing it fails nothing
 */
record Bound(boolean atMost, double reach, @Nullable Double aim) {

    static Bound atMost(double reach) {
        return new Bound(true, reach, null);
    }

    static Bound atLeast(double reach) {
        return new Bound(false, reach, null);
    }

    boolean holds(double number) {
        return holds(number, reach);
    }

    /** For example {@code ≥ 12, aim 20}. */
    @Override
    public String toString() {
        String most = (atMost ? "≤ " : "≥ ") + BenchTable.trim(reach);
        return aim == null ? most : most + ", aim " + BenchTable.trim(aim);
    }

    /** For example {@code met}, {@code met, short of the aim}, {@code missed by 12.5 %}: 0.45 where 0.4 is the most. */
    String words(double number) {
        if (!holds(number)) {
            return String.format(Locale.ROOT, "missed by %.1f %%", 100 * Math.abs(number / reach - 1));
        }
        return aim == null || holds(number, aim) ? "met" : "met, short of the aim";
    }

    /** Whatever is no number reaches nothing. */
    private boolean holds(double number, double bound) {
        return atMost ? number <= bound : number >= bound;
    }
}
