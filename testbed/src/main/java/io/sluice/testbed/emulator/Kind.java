package io.sluice.testbed.emulator;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a rejection is about: one of the {@link Limits}, or something else the provider minds. */
enum Kind {
    REQUESTS("rpm", "requests"),
    INPUT("itpm", "input"),
    OUTPUT("otpm", "output"),
    TOKENS("tpm", "tokens"),
    DAILY_REQUESTS("rpd", "daily"),
    DAILY_TOKENS("tpd", "daily"),
    SPEND("usd", "spend"),
    CONCURRENCY("concurrency", "concurrency"),
    CREDITS(null, "credits"),
    PLAN_WINDOW(null, "plan_window"),
    ACCELERATION(null, "acceleration"),
    OVERLOAD(null, "overload"),
    SERVER(null, "server");

    /** The kinds that are counted by time, in the order they are looked at: a used-up day is told before the minute. */
    static final List<Kind> RATES = List.of(DAILY_REQUESTS, DAILY_TOKENS, REQUESTS, INPUT, TOKENS, OUTPUT);

    private final @Nullable String limitName;
    private final String word;

    Kind(@Nullable String limitName, String word) {
        this.limitName = limitName;
        this.word = word;
    }

    boolean isLimit() {
        return limitName != null;
    }

    /** Its name among the {@link Limits}; its word if it is none of them. */
    String limitName() {
        return limitName == null ? word : limitName;
    }

    /** Its word in the log and the stats: both daily limits are {@code daily}. */
    String word() {
        return word;
    }

    boolean isDaily() {
        return this == DAILY_REQUESTS || this == DAILY_TOKENS;
    }
}
