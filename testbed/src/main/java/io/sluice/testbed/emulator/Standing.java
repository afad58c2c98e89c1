package io.sluice.testbed.emulator;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the limits of a pool stand after a decision. What is not limited is absent.
 *
 * @param plan the account's plan, if it has one
 */
record Standing(Instant at, Map<Kind, Level> levels, PlanWindows.@Nullable Seen plan) {

    /**
     * @param limit units a minute or a day
     * @param remaining whole units left, 0 or more
     * @param resetAt when it will be all free again
     */
    record Level(long limit, long remaining, Instant resetAt) {}
}
