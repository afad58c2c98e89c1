package io.sluice.testbed.emulator;

/**
 * Counts one limit. Time comes in with every question, in microseconds on any scale that never
 * goes back, so a counter is as testable as arithmetic; all of it is whole numbers, so it is as exact.
 *
 * <p>What was booked may carry a counter over its limit (output is only known as it is produced); that is then seen by
 * who asks next.
 */
sealed interface Counter permits Bucket, Rolling, Quantised, Calendar {

    long MINUTE_US = 60_000_000L;

    /**
     * How long until {@code amount} more keeps the limit, in microseconds; 0 if it does now. What never fits is
     * answered with the time until everything is free.
     */
    long waitFor(long amount, long nowUs);

    /** How long until the limit is neither reached nor passed, whatever comes next; in microseconds, 0 if so now. */
    long waitForRoom(long nowUs);

    /** Counts {@code amount}, whether it keeps the limit or not. */
    void book(long amount, long nowUs);

    /** Whole units left at this moment, 0 or more. */
    long remaining(long nowUs);

    /** When nothing of what was booked counts any longer: {@code nowUs} if that is so already. */
    long freeAt(long nowUs);
}
