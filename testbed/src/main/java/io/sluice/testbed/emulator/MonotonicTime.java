package io.sluice.testbed.emulator;

import java.time.Instant;
import java.time.InstantSource;

/** Wall-clock time that never steps: read once from the system's clock, carried on by its monotonic timer. */
final class MonotonicTime implements InstantSource {
    private final Instant start = Instant.now();
    private final long startNanos = System.nanoTime();

    @Override
    public Instant instant() {
        return start.plusNanos(System.nanoTime() - startNanos);
    }
}
