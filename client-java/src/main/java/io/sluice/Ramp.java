package io.sluice;

import java.math.BigDecimal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a project that was idle comes up: providers refuse a sharp rise though no limit is reached.
 *
 * @param from what part of each class's limits is in force at the start: 0.01 to 1
 * @param doubleEvery how long until twice as much is, up to the whole
 * @param agentsPerMinute how many agents may join a minute; {@code null} is any number
 */
record Ramp(BigDecimal from, Duration doubleEvery, @Nullable Integer agentsPerMinute) {
    static final BigDecimal USUAL_FROM = new BigDecimal("0.1");
    static final Duration USUAL_DOUBLING = Duration.ofSeconds(60);

    /** {@link #from} in millionths. */
    long fromPpm() {
        return from.movePointRight(6).longValueExact();
    }

    long everyUs() {
        return doubleEvery.toNanos() / 1_000;
    }
}
