package io.sluice.testbed.fleet;

import io.sluice.Priority;
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
        long durationMs) {}
