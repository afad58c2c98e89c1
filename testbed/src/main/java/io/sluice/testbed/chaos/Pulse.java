package io.sluice.testbed.chaos;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;

/**
 * Whether the machine ran at all: a thread that wants nothing but to wake up every so often, and notes when it was held up. Where it
 * was, hosts were too, and took a Redis that did not answer in time to be out.
 */
final class Pulse implements AutoCloseable {
    private static final long EVERY_MS = 20;

    /** Of the 250 ms that a host waits for an answer, for which it needs the processor twice and Redis once. */
    private static final long HELD_UP_MS = 100;

    /** The machine did not run us from {@code fromMs} to {@code toMs}. */
    record HeldUp(long fromMs, long toMs) {}

    private final List<HeldUp> heldUp = new CopyOnWriteArrayList<>();
    private final LongSupplier clock;
    private final Thread thread = new Thread(this::beat, "pulse");

    Pulse(LongSupplier clock) {
        this.clock = clock;
        thread.setDaemon(true);
        thread.start();
    }

    List<HeldUp> heldUp() {
        return List.copyOf(heldUp);
    }

    private void beat() {
        try {
            for (long lastMs = clock.getAsLong(); ; ) {
                Thread.sleep(EVERY_MS);
                long nowMs = clock.getAsLong();
                if (nowMs - lastMs - EVERY_MS > HELD_UP_MS) {
                    heldUp.add(new HeldUp(lastMs, nowMs));
                }
                lastMs = nowMs;
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
