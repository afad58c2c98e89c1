package io.sluice;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How much of a subscription plan's window is used: 80 % of the week, ends in 55 h.
 *
 * @param name as the provider calls it: {@code 5h}, {@code 7d}; {@code primary}, {@code secondary}
 * @param used the share used, 1.0 for all of it; {@code null} if not said
 * @param length how long the window is, if said
 * @param resetIn how long until it ends, if said
 * @param rejecting whether it refuses calls now
 */
public record PlanWindow(
        String name,
        @Nullable Double used,
        @Nullable Duration length,
        @Nullable Duration resetIn,
        boolean rejecting) {}
