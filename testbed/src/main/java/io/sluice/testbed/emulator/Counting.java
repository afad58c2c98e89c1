package io.sluice.testbed.emulator;

import java.time.Duration;
import java.util.Locale;

/** How the provider counts a limit that is given per minute. */
public enum Counting {
    /** A token bucket that refills all the time; holds {@code limit x burst / 60 s}. What Anthropic documents. */
    BUCKET,
    /** The exact sum of the last 60 seconds may not pass the limit. Burst plays no part. */
    ROLLING,
    /**
     * Clock-aligned windows as long as the burst, each allowing {@code limit x burst / 60 s}: "60 a minute may be
     * enforced as 1 a second".
     */
    QUANTISED;

    /** Its word in the options and the stats. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * A fresh counter for one limit.
     *
     * @param limit units a minute
     * @throws IllegalArgumentException if the limit would never admit a thing though it is not 0
     */
    Counter counter(Kind kind, long limit, Duration burst) {
        long burstUs = burst.toNanos() / 1_000;
        if (this != ROLLING && limit > 0 && limit * burstUs < Counter.MINUTE_US) {
            throw new IllegalArgumentException("limit " + kind.limitName() + "=" + limit
                    + " is less than one in a burst of " + burst.toMillis() + " ms: it would admit nothing");
        }
        return switch (this) {
            case BUCKET -> new Bucket(limit, burstUs);
            case ROLLING -> new Rolling(limit);
            case QUANTISED -> new Quantised(limit, burstUs);
        };
    }
}
