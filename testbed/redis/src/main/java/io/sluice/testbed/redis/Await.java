package io.sluice.testbed.redis;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waiting for what a server does in its own time. */
final class Await {
    private static final long POLL_MS = 5;

    private Await() {}

    /** Lets time pass, where time itself is what a fault is made of. */
    static void pass(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        until(time.plusSeconds(1), () -> System.nanoTime() >= end, () -> "time itself");
    }

    /**
     * Returns as soon as the condition holds.
     *
     * @throws IllegalStateException with what {@code otherwise} says, if it does not hold in time; or if the thread is
     *     interrupted
     */
    static void until(Duration atMost, BooleanSupplier condition, Supplier<String> otherwise) {
        long deadline = System.nanoTime() + atMost.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("not within " + atMost.toSeconds() + " s: " + otherwise.get());
            }
            try {
                Thread.sleep(POLL_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while waiting for Redis", e);
            }
        }
    }
}
