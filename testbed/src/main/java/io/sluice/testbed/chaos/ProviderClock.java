package io.sluice.testbed.chaos;

import io.sluice.testbed.fleet.TargetLog;
import java.io.IOException;
import java.util.function.LongSupplier;

/** The provider's clock, read once and carried on. */
record ProviderClock(long atMs, long atNs) implements LongSupplier {

    static ProviderClock of(TargetLog log) throws IOException, InterruptedException {
        // The first answer of a server takes longer than the next.
        long unused = log.nowMs();
        long beforeNs = System.nanoTime();
        long atMs = log.nowMs();
        return new ProviderClock(atMs, beforeNs + (System.nanoTime() - beforeNs) / 2);
    }

    @Override
    public long getAsLong() {
        return at(System.nanoTime());
    }

    long at(long ns) {
        return atMs + (ns - atNs) / 1_000_000;
    }
}
