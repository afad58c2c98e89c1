package io.sluice.testbed.bench;

import org.jspecify.annotations.Nullable;

/**
 * A number of {@code bench queue} or {@code bench server} and what it has to reach; the median is judged.
 *
 * @param bound {@code null} for a number that is only told
 * @param beside what it may be compared with, measured in the same run; may be empty
 */
record Reached(String what, @Nullable Bound bound, Spread measured, int decimals, String beside) {

    static Reached of(String what, Bound bound, double measured, String beside) {
        return new Reached(what, bound, Spread.of(measured), 1, beside);
    }

    boolean met() {
        return bound == null || bound.holds(measured.median());
    }

    String reach() {
        return bound == null ? "" : bound.toString();
    }

    /** As {@link Bound#words}, and nothing where nothing was to be reached. */
    String words() {
        return bound == null ? "" : bound.words(measured.median());
    }

    /** For programs. */
    Row row() {
        return new Row(what, reach(), measured, met(), words(), beside);
    }

    record Row(String what, String reach, Spread measured, boolean met, String verdict, String beside) {}
}
