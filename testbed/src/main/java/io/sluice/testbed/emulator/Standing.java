package io.sluice.testbed.emulator;

import java.time.Instant;
import java.util.Map;

/** Where the limits of a pool stand after a decision. What is not limited is absent. */
record Standing(Map<Kind, Level> levels) {

    /**
     * @param limit units a minute
     * @param remaining whole units left, 0 or more
     * @param resetAt when it will be all free again
     */
    record Level(long limit, long remaining, Instant resetAt) {}
}
