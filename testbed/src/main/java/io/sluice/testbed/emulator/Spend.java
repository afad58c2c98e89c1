package io.sluice.testbed.emulator;

import org.jspecify.annotations.Nullable;

/**
 * What the {@code usd} limit is and how running into it is told.
 *
 * @param as {@code null} is what the provider does most
 * @param spent as if the money were gone already, whatever the limit
 */
record Spend(@Nullable As as, boolean spent) {
    static final Spend DEFAULT = new Spend(null, false);

    /** Whose limit, and for how long. */
    enum As {
        /** The provider's cap on the account, over the calendar month UTC. */
        CAP,
        /** The customer's own cap (of a workspace, project or key), over the calendar month UTC. */
        OWN,
        /** Credits bought ahead, gone for good: OpenAI's insufficient_quota. */
        CREDITS,
        /** Over any 10 minutes; Gemini only. */
        WINDOW
    }

    static Spend of(Settings settings) {
        return new Spend(settings.word("as", As.class), settings.flag("spent"));
    }
}
