package io.sluice.testbed.emulator;

import java.math.BigDecimal;
import java.time.Duration;

/**
 * How fast use may rise: in each step of the clock at most {@code growth} times what the step before used, though never
 * less than {@code start} a minute. The provider's own limits do not matter to it.
 *
 * @param start units a minute after a rest
 * @param growth 1 to 100; default 1.5
 * @param every length of a step, aligned to the clock; default 1 minute, as the provider's texts say
 * @param of what is measured; default counted input
 */
record Acceleration(long start, double growth, Duration every, Of of) {

    /** What its rise is about. */
    enum Of {
        INPUT,
        REQUESTS
    }

    static Acceleration of(Settings settings) {
        Long start = settings.whole("start", 1, 1_000_000_000);
        if (start == null) {
            throw new IllegalArgumentException("acceleration: start is needed, in units a minute");
        }
        double growth = settings.decimal("growth", BigDecimal.valueOf(1.5), BigDecimal.valueOf(100))
                .doubleValue();
        Duration every = settings.time("every", Duration.ofMinutes(1));
        if (growth < 1 || every.toMillis() < 10) {
            throw new IllegalArgumentException("acceleration: growth must be 1 or more, every 10ms or more");
        }
        return new Acceleration(start, growth, every, settings.word("of", Of.class, Of.INPUT));
    }
}
