package io.sluice.testbed.emulator;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A subscription's windows, in tokens of fresh input, cache writes and output. A window begins with the first call after
 * the last one ended.
 *
 * @param fiveHours {@code null}: no such window; at least one is there
 */
record Plan(@Nullable Span fiveHours, @Nullable Span sevenDays) {
    private static final long MOST = 1_000_000_000_000L;

    /**
     * @param amount tokens a window
     * @param length shorter than its name in tests
     * @param used share of the first window that is used already
     */
    record Span(long amount, Duration length, double used) {}

    static Plan of(Settings settings) {
        Plan plan = new Plan(span(settings, "5h", Duration.ofHours(5)), span(settings, "7d", Duration.ofDays(7)));
        if (plan.fiveHours == null && plan.sevenDays == null) {
            throw new IllegalArgumentException("plan: 5h or 7d is needed, in tokens a window");
        }
        return plan;
    }

    private static @Nullable Span span(Settings settings, String name, Duration length) {
        Long amount = settings.whole(name, 1, MOST);
        Duration lasts = settings.time(name + "-lasts", length);
        double used = settings.share(name + "-used", 0);
        return amount == null ? null : new Span(amount, lasts, used);
    }
}
