package io.sluice.testbed.fleet;

import java.time.Duration;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The retry rule most SDKs and agent CLIs share: 0.5 s doubled at each rejection up to 8 s, less up to a quarter by
 * chance; a Retry-After of at most a minute is taken instead. (The rule of the official Python and TypeScript SDKs of
 * OpenAI and Anthropic.)
 */
final class Backoff {
    private static final double FIRST_SECONDS = 0.5;
    private static final double MOST_SECONDS = 8;
    private static final double JITTER = 0.25;
    private static final Duration MOST_RETRY_AFTER = Duration.ofSeconds(60);

    private Backoff() {}

    /**
     * @param rejections how often the call was rejected, from 1
     * @param chance 0 to 1, uniform
     */
    static Duration pause(int rejections, @Nullable Duration retryAfter, DoubleSupplier chance) {
        if (retryAfter != null && !retryAfter.isNegative() && retryAfter.compareTo(MOST_RETRY_AFTER) <= 0) {
            return retryAfter;
        }
        double seconds = Math.min(MOST_SECONDS, FIRST_SECONDS * Math.pow(2, Math.min(rejections - 1, 30)));
        return Duration.ofMillis(Math.round(1000 * seconds * (1 - JITTER * chance.getAsDouble())));
    }
}
