package io.sluice;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Ids of permits that a desk gave without Redis. They say so and when, by Redis's clock, as {@code @tkqi9c.} and 22 random characters: so a
 * process that Redis knows nothing of it from can tell one that was not told yet from one that never was.
 */
final class Untold {
    private static final String MARK = "@";
    private static final int RADIX = 36;

    /** As long as a late settle counts. */
    private static final long KEPT_S = Duration.ofHours(1).toSeconds();

    /** Seconds of 1971 to 4000 or so, and a {@link RandomIds}. */
    private static final Pattern FORM = Pattern.compile(MARK + "([1-9a-z][0-9a-z]{5,6})\\.[A-Za-z0-9_-]{22}");

    private Untold() {}

    static String id(long nowUs) {
        return MARK + Long.toString(TimeUnit.MICROSECONDS.toSeconds(nowUs), RADIX) + "." + RandomIds.next();
    }

    /**
     * Whether a permit of this id that Redis does not know may run all the same. A name that somebody made up in this form, with a time
     * of this hour, cannot be told from one: no two processes have a secret that Redis need not be asked for.
     */
    static boolean mayRun(String id, long nowUs) {
        Matcher parts = FORM.matcher(id);
        if (!parts.matches()) {
            return false; // a caller's own name for it
        }
        long age = TimeUnit.MICROSECONDS.toSeconds(nowUs) - Long.parseLong(parts.group(1), RADIX);
        return age < KEPT_S && (age > -KEPT_S || nowUs == StoreClock.UNHEARD);
    }
}
