package io.sluice;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Ids of permits that a desk gave without Redis. They say so and when, by Redis's clock, as {@code @tkqi9c.} and 22 random characters: so a
 * process that Redis knows nothing of it from can tell one that was not told yet from one that never was.
 */
final class Untold {
    private static final char MARK = '@';
    private static final int RADIX = 36;

    /** As long as a late settle counts. */
    private static final long KEPT_S = Duration.ofHours(1).toSeconds();

    private Untold() {}

    static String id(long nowUs) {
        return MARK + Long.toString(TimeUnit.MICROSECONDS.toSeconds(nowUs), RADIX) + "." + RandomIds.next();
    }

    /** Whether a permit of this id that Redis does not know may run all the same. */
    static boolean mayRun(String id, long nowUs) {
        int end = id.indexOf('.');
        if (id.charAt(0) != MARK || end < 0) {
            return false;
        }
        try {
            long age = TimeUnit.MICROSECONDS.toSeconds(nowUs) - Long.parseLong(id.substring(1, end), RADIX);
            return age < KEPT_S;
        } catch (NumberFormatException e) {
            return false; // a caller's own name for it
        }
    }
}
