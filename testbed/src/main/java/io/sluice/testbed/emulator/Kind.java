package io.sluice.testbed.emulator;

import java.util.List;
import java.util.Locale;

/** What a limit counts, and so what a rejection is about. */
enum Kind {
    REQUESTS("rpm"),
    INPUT("itpm"),
    OUTPUT("otpm"),
    CONCURRENCY("concurrency");

    /** The kinds that are counted per minute. */
    static final List<Kind> RATES = List.of(REQUESTS, INPUT, OUTPUT);

    private final String limitName;
    private final String word = name().toLowerCase(Locale.ROOT);

    Kind(String limitName) {
        this.limitName = limitName;
    }

    /** Its name among the {@link Limits}. */
    String limitName() {
        return limitName;
    }

    /** Its word in the log and the stats. */
    String word() {
        return word;
    }
}
