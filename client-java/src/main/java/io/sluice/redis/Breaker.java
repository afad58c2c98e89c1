package io.sluice.redis;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Stops asking a Redis that does not answer, so that an outage costs each call nothing instead of a time-out. Opens
 * after five failures in a row, or when half of at least ten commands within two seconds failed. Commands that were under
 * way together and failed in one stall count once, so neither one slow reply opens it nor one stall that hit hundreds. While
 * open, one command every half second is let through as a probe; the first success closes it.
 */
final class Breaker {
    private static final int IN_A_ROW = 5;
    private static final int ENOUGH = 10;
    private static final long WINDOW_NS = Duration.ofSeconds(2).toNanos();
    private static final long PROBE_NS = Duration.ofMillis(500).toNanos();

    private final LongSupplier nanoTime;
    private int inARow;
    private int failed;
    private int answered;
    private long windowStart;
    private boolean open;
    private long nextProbe;
    private long lastFailure;

    Breaker(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.windowStart = nanoTime.getAsLong();
        this.lastFailure = windowStart;
    }

    /** When a command begins, for {@link #failed}. */
    long now() {
        return nanoTime.getAsLong();
    }

    /** Whether a command may be sent now. */
    synchronized boolean allows() {
        if (!open) {
            return true;
        }
        long now = nanoTime.getAsLong();
        if (now - nextProbe < 0) {
            return false;
        }
        nextProbe = now + PROBE_NS;
        return true;
    }

    synchronized boolean isOpen() {
        return open;
    }

    /** @return whether this changed the state, so that it is told once */
    synchronized boolean succeeded() {
        count();
        inARow = 0;
        if (!open) {
            return false;
        }
        open = false;
        windowStart = nanoTime.getAsLong();
        failed = 0;
        answered = 0;
        return true;
    }

    /**
     * @param begun when the command was sent, by {@link #now}
     * @return whether this changed the state, so that it is told once
     */
    synchronized boolean failed(long begun) {
        if (begun - lastFailure < 0) {
            return false;
        }
        lastFailure = now();
        count();
        failed++;
        inARow++;
        if (open || (inARow < IN_A_ROW && !(answered >= ENOUGH && failed * 2 >= answered))) {
            return false;
        }
        open = true;
        nextProbe = nanoTime.getAsLong() + PROBE_NS;
        return true;
    }

    private void count() {
        long now = nanoTime.getAsLong();
        if (now - windowStart > WINDOW_NS) {
            windowStart = now;
            failed = 0;
            answered = 0;
        }
        answered++;
    }
}
