package io.sluice.testbed.emulator;

/**
 * Keeps an {@link Acceleration} for one pool. Steps are aligned to the clock. The next step's allowance is {@code growth}
 * times what this one used, or times all it allowed once a call was refused for it: who asks for more than is allowed is
 * let up at once, who rests begins anew.
 *
 * <p>Example: start 60,000 a minute, growth 1.5, steps of a minute. 60,000 pass in the first minute, what comes on top is
 * refused; 90,000 pass in the second; after a minute without calls it is 60,000 again.
 */
final class Ascent {
    private final Acceleration rule;
    private final long stepUs;
    private final double start;
    private long step = Long.MIN_VALUE;
    private double allowed;
    private double used;
    private boolean refused;

    Ascent(Acceleration rule) {
        this.rule = rule;
        this.stepUs = rule.every().toNanos() / 1_000;
        this.start = (double) rule.start() * stepUs / Counter.MINUTE_US;
        this.allowed = start;
    }

    /** Microseconds until a call may come again; 0 if this one may. */
    long waitFor(Call call, long nowUs) {
        roll(nowUs);
        // The first of a step always passes, or what is larger than the start would never.
        if (used == 0 || used + size(call) <= allowed) {
            return 0;
        }
        refused = true;
        return stepUs - Math.floorMod(nowUs, stepUs);
    }

    void book(Call call, long nowUs) {
        roll(nowUs);
        used += size(call);
    }

    Denial denial(long waitUs) {
        return new Denial.Steep(rule.of(), perMinute(allowed), perMinute(next()), waitUs);
    }

    private double next() {
        return Math.max(start, rule.growth() * (refused ? Math.max(allowed, used) : used));
    }

    private void roll(long nowUs) {
        long current = Math.floorDiv(nowUs, stepUs);
        if (current != step) {
            allowed = current == step + 1 ? next() : start;
            step = current;
            used = 0;
            refused = false;
        }
    }

    private double size(Call call) {
        return rule.of() == Acceleration.Of.REQUESTS ? 1 : call.counted();
    }

    private long perMinute(double ofStep) {
        return Math.round(ofStep * Counter.MINUTE_US / stepUs);
    }
}
