package io.sluice.testbed.emulator;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keeps a {@link Plan}: how much of each window is used, and until when it lasts. */
final class PlanWindows {
    private final List<Window> windows = new ArrayList<>();

    PlanWindows(Plan plan, long nowUs) {
        add("5h", plan.fiveHours(), nowUs);
        add("7d", plan.sevenDays(), nowUs);
    }

    private void add(String name, Plan.@Nullable Span span, long nowUs) {
        if (span != null) {
            windows.add(new Window(name, span, nowUs));
        }
    }

    void book(long tokens, long nowUs) {
        for (Window window : windows) {
            window.book(tokens, nowUs);
        }
    }

    Seen see(long nowUs) {
        return new Seen(
                Enforcer.instant(nowUs),
                windows.stream().map(window -> window.see(nowUs)).toList());
    }

    /** All windows at one moment; at least one. */
    record Seen(Instant at, List<Use> windows) {

        /** The one that decides: of those that are used up the one that lasts longest, else the fullest. */
        Use deciding() {
            Use deciding = windows.get(0);
            for (Use window : windows) {
                boolean worse = (window.isUsedUp() && deciding.isUsedUp())
                        ? window.resetAt().isAfter(deciding.resetAt())
                        : window.used() > deciding.used();
                deciding = worse ? window : deciding;
            }
            return deciding;
        }
    }

    /**
     * One window.
     *
     * @param name 5h or 7d
     * @param used its share, 0 to 1
     * @param minutes its length by its name
     */
    record Use(String name, double used, Instant resetAt, long minutes) {
        private static final double WARNS_AT = 0.9;

        boolean isUsedUp() {
            return used >= 1;
        }

        boolean warns() {
            return used >= WARNS_AT;
        }
    }

    private static final class Window {
        private final String name;
        private final long amount;
        private final long lengthUs;
        private long used;
        private long endsUs;

        Window(String name, Plan.Span span, long nowUs) {
            this.name = name;
            this.amount = span.amount();
            this.lengthUs = span.length().toNanos() / 1_000;
            this.used = Math.round(span.amount() * span.used());
            this.endsUs = nowUs + (used > 0 ? lengthUs : 0);
        }

        void book(long tokens, long nowUs) {
            roll(nowUs);
            if (nowUs >= endsUs) {
                endsUs = nowUs + lengthUs;
            }
            used += tokens;
        }

        Use see(long nowUs) {
            roll(nowUs);
            long minutes = name.equals("5h") ? 300 : 10_080;
            Instant resetAt = Enforcer.instant(nowUs < endsUs ? endsUs : nowUs + lengthUs);
            return new Use(name, Math.min(1, (double) used / amount), resetAt, minutes);
        }

        private void roll(long nowUs) {
            if (nowUs >= endsUs) {
                used = 0;
            }
        }
    }
}
