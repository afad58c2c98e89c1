package io.sluice;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One limit in time: what a unit of it costs is how long the whole fleet's limit takes to refill it. So a bucket in this process
 * holds nanoseconds, one refills each nanosecond, and a host's share makes its calls dearer, not its bucket smaller.
 *
 * <p>Example: 60 requests a minute at headroom 0.9 and a burst of 5 s: a request costs 1.111 s, the bucket holds 5 s. A host
 * whose {@linkplain Share#part() part} is 0.4 pays 2.778 s: 21.6 requests a minute, 1.8 at once.
 *
 * <p>A limit by windows has no refill, and without Redis nobody knows what is left of it. Here it is one that refills evenly over
 * its window and saves up a 24th of it, an hour at most: an outage of an hour costs a day's budget no more than two hours' worth.
 *
 * @param nsPerUnit of one unit of cost
 * @param burstNs what the bucket holds
 * @param mostNs the largest cost that is ever admitted: a minute of a rate, a whole window
 * @param gateWidthNs how finely what was admitted is remembered, for calls above the burst; 0: it is not
 * @param gateUnits the units that may be admitted in the time the gate looks back
 */
record Pace(double nsPerUnit, long burstNs, long mostNs, long gateWidthNs, double gateUnits) {
    private static final double WHOLE_PPM = 1_000_000;
    private static final double NS_PER_US = 1_000;

    /** Of a month: the longest there is. */
    private static final Duration MONTH = Duration.ofDays(31);

    private static final Duration SAVED_UP = Duration.ofHours(1);
    private static final long PARTS = 24;

    /**
     * @param window how long the windows of a limit are that counts by windows; {@code null}: a month
     */
    static Pace of(RefillLimit limit, @Nullable Duration window) {
        return limit.rate() == 0 ? even(limit, window == null ? MONTH : window) : refilling(limit);
    }

    private static Pace refilling(RefillLimit limit) {
        double whole = limit.factor() * NS_PER_US * limit.tickUs() / limit.rate();
        // An amount that has yet to be found is what it is at first.
        double inForce = limit.startPpm() / WHOLE_PPM;
        return new Pace(
                whole / inForce,
                (long) (limit.capacity() * NS_PER_US * limit.tickUs() / limit.rate()),
                (long) Math.min(Long.MAX_VALUE / 4.0, limit.ceiling() * whole),
                limit.widthUs() * (long) NS_PER_US,
                limit.spanAmount() * inForce);
    }

    private static Pace even(RefillLimit limit, Duration window) {
        double ns = window.toNanos();
        long burst = Math.min(SAVED_UP.toNanos(), window.toNanos() / PARTS);
        return new Pace(ns / limit.capacity() * limit.factor(), burst, window.toNanos(), 0, 0);
    }
}
