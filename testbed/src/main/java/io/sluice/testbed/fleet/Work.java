package io.sluice.testbed.fleet;

import io.sluice.Priority;
import io.sluice.Usage;
import org.jspecify.annotations.Nullable;

/**
 * One call an agent is going to make.
 *
 * @param thinkMs how long the agent thinks before its step
 * @param input fresh input in tokens
 * @param cacheRead input read from the provider's cache, on top
 * @param output what the model will produce
 * @param maxOutput the cap the request names
 * @param durationMs how long the answer takes
 * @param mostTries how often it is sent at most, by a strategy that repeats it itself
 */
record Work(
        String agent,
        @Nullable String team,
        @Nullable String workspace,
        Priority priority,
        String model,
        String size,
        long thinkMs,
        long input,
        long cacheRead,
        long output,
        long maxOutput,
        long durationMs,
        int mostTries) {

    /** The same with so much more fresh input. */
    Work with(long more) {
        return new Work(
                agent,
                team,
                workspace,
                priority,
                model,
                size,
                thinkMs,
                input + more,
                cacheRead,
                output,
                maxOutput,
                durationMs,
                mostTries);
    }

    /** What a call of this usage costs; where it is not known, the estimate. */
    Charge charge(Usage usage) {
        return new Charge(
                1,
                orElse(usage.inputTokens(), input),
                orElse(usage.cacheReadTokens(), cacheRead),
                orElse(usage.cacheWriteTokens(), 0),
                orElse(usage.outputTokens(), maxOutput));
    }

    private static long orElse(@Nullable Long tokens, long estimate) {
        return tokens == null ? estimate : tokens;
    }
}
