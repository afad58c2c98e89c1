package io.sluice;

import java.time.Duration;

/** Waits as people are told them: rounded up, so that nobody who waits that long comes too early. */
final class WholeSeconds {
    private WholeSeconds() {}

    /** 1 or more: 0.4 s is 1, 59.2 s is 60. */
    static long of(Duration wait) {
        return Math.max(1, wait.plusNanos(999_999_999).toSeconds());
    }
}
