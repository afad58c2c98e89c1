package io.sluice.testbed.bench;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Things that are to happen at their time, however long the ones before them took. */
final class Pace {
    private Pace() {}

    /** @param began by {@link System#nanoTime} */
    static void until(long began, Duration after) throws InterruptedException {
        long left = began + after.toNanos() - System.nanoTime();
        if (left > 0) {
            TimeUnit.NANOSECONDS.sleep(left);
        }
    }
}
