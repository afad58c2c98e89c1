package io.sluice.testbed.emulator;

import java.util.EnumSet;
import java.util.Set;

/** Ways in which what the provider tells may be wrong. What it enforces stays right. */
enum Lie {
    /** Resets lie a minute in the past. */
    RESET_PAST,
    /** Remaining amounts are rounded to thousands, up or down. */
    ROUNDED,
    /** Headers tell how things stood {@value #LATE_BY} answers ago. */
    LATE,
    /** All of every limit is left. */
    FULL,
    /** Nothing of any limit is left. */
    EMPTY,
    LIMIT_DOUBLED,
    LIMIT_HALVED,
    /** A rejection names no wait, neither in a header nor in its text. */
    NO_WAIT,
    /** A rejection names a tenth of the true wait. */
    SHORT_WAIT,
    /** {@code retry-after} is an HTTP date. */
    RETRY_AFTER_DATE,
    /** {@code retry-after} is "soon". */
    RETRY_AFTER_JUNK;

    static final int LATE_BY = 10;

    /** Reads {@code rounded,late}; blank is none. */
    static Set<Lie> parse(String text) {
        Set<Lie> lies = EnumSet.noneOf(Lie.class);
        for (String word : text.split(",", -1)) {
            if (!text.isBlank()) {
                lies.add(Settings.word("lies", Lie.class, word.trim()));
            }
        }
        return lies;
    }
}
