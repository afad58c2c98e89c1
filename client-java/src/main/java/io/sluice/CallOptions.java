package io.sluice;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How often and how long {@link Project#call} tries.
 *
 * @param totalTime no attempt begins later than this after the call did: waiting in line, requests and pauses included.
 *     {@code null} and longer ones mean the policy's {@code queue.max_wait}. A request under way is never cut short
 * @param maxAttempts how many requests it may send, 1 or more, those included that an SDK repeats by itself
 * @param restartsStreams whether it may be sent again after text of a streamed answer went to a consumer
 */
public record CallOptions(@Nullable Duration totalTime, int maxAttempts, boolean restartsStreams) {

    /** The policy's time and 8 attempts: enough for a provider that is overloaded for half a minute. */
    public static final CallOptions DEFAULT = new CallOptions(null, 8, false);

    /** @throws IllegalArgumentException if a value is out of range, naming it */
    public CallOptions {
        if (totalTime != null && totalTime.isNegative()) {
            throw new IllegalArgumentException("totalTime must not be negative, got " + totalTime);
        }
        if (maxAttempts < 1) {
            throw new IllegalArgumentException("maxAttempts must be 1 or more, got " + maxAttempts);
        }
    }

    public CallOptions withTotalTime(Duration totalTime) {
        return new CallOptions(totalTime, maxAttempts, restartsStreams);
    }

    public CallOptions withMaxAttempts(int maxAttempts) {
        return new CallOptions(totalTime, maxAttempts, restartsStreams);
    }

    public CallOptions withRestartedStreams() {
        return new CallOptions(totalTime, maxAttempts, true);
    }
}
