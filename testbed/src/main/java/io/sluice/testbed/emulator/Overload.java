package io.sluice.testbed.emulator;

import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The provider is overloaded: it turns calls away that keep every limit, and counts nothing for them.
 *
 * @param share of all calls, evenly spread; default 1
 * @param from when it begins, from when it was set; default at once
 * @param length how long it lasts; {@code null} for ever
 * @param status 429, 500, 502, 503, 504 or 529; {@code null} is what the provider sends most
 * @param retryAfter the wait it names; {@code null} none
 */
record Overload(
        double share,
        Duration from,
        @Nullable Duration length,
        @Nullable Integer status,
        @Nullable Duration retryAfter) {
    private static final Set<Long> STATUSES = Set.of(429L, 500L, 502L, 503L, 504L, 529L);

    static Overload of(Settings settings) {
        double share = settings.share("share", 1);
        Duration from = settings.time("from", Duration.ZERO);
        Duration length = settings.time("for");
        Long status = settings.whole("status", 0, 999);
        if (status != null && !STATUSES.contains(status)) {
            throw settings.bad("status", status.toString(), "429, 500, 502, 503, 504 or 529");
        }
        return new Overload(
                share,
                from,
                length,
                status == null ? null : Integer.valueOf(status.intValue()),
                settings.time("retry-after"));
    }

    /** Whether it is on, so long after it was set. */
    boolean onAfter(Duration since) {
        return since.compareTo(from) >= 0 && (length == null || since.compareTo(from.plus(length)) < 0);
    }
}
