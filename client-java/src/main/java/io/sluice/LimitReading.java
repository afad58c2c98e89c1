package io.sluice;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What an answer's headers say of one limit: 30,000 input tokens, none left, full again in 48 s.
 *
 * @param dimension {@code requests}, {@code input}, {@code output} or {@code tokens}, with the pool before it where it is
 *     not the normal one: {@code fast_input}, {@code priority_output}, {@code project_tokens}
 * @param limit the limit itself
 * @param remaining what is left of it now; {@code null} if not said, or said to be unknown (a negative number)
 * @param resetIn how long until it is <em>full</em> again, 0 or more; not when the next unit is free
 * @param step what {@code remaining} is rounded to: 1,000 for Anthropic's tokens, else 1
 */
public record LimitReading(
        String dimension,
        @Nullable Long limit,
        @Nullable Long remaining,
        @Nullable Duration resetIn,
        long step) {

    /** Whether nothing is left. */
    public boolean isUsedUp() {
        return remaining != null && remaining == 0;
    }
}
