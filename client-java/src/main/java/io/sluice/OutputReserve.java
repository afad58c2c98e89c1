package io.sluice;

import java.util.Locale;

/** How much output a call reserves before it is sent. */
enum OutputReserve {
    /** What calls like it produced lately; where nothing was learned yet, the maximum. */
    LEARNED,
    /** The call's own cap, or the class's {@code max_output}: what the provider charges up front. */
    MAX,
    /** Nothing: output is charged when it is known. */
    NONE;

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
