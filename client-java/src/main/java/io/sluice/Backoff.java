package io.sluice;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a call that was not served waits before it is sent again. What the provider stated is obeyed to the millisecond.
 * Where it stated nothing, or a moment that is past, full jitter: anything from 200 ms to a longest pause that doubles from
 * 1 s to 60 s, so that those who failed together do not come again together.
 */
final class Backoff {
    static final Duration LEAST = Duration.ofMillis(200);
    static final Duration FIRST = Duration.ofSeconds(1);
    static final Duration MOST = Duration.ofSeconds(60);

    private Backoff() {}

    /**
     * @param stated {@code null} if nothing was; zero if the moment is past
     * @param failures how often the call was not served, from 1
     * @param chance 0 to 1
     */
    static Duration pause(@Nullable Duration stated, int failures, double chance) {
        if (stated != null && !stated.isZero()) {
            return stated.compareTo(LEAST) < 0 ? LEAST : stated;
        }
        int doublings = Math.min(failures - 1, 10);
        long longest = Math.min(FIRST.toMillis() << doublings, MOST.toMillis());
        return LEAST.plusMillis(Math.round(chance * (longest - LEAST.toMillis())));
    }
}
