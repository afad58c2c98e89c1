package io.sluice.testbed.emulator;

import java.time.Duration;

/**
 * One request for an answer, read from its dialect. Sizes are in tokens; the four parts do not overlap.
 *
 * @param agent who the request says it is, {@code -} if it does not
 * @param streams whether the answer is an event stream
 * @param counted input that counts toward the input limit, by this provider's rule
 * @param output what will be produced unless the client leaves
 * @param cut whether the output was capped by what the client allowed
 * @param duration from acceptance to the last token
 */
record Call(
        String agent,
        String model,
        boolean streams,
        long input,
        long cacheRead,
        long cacheWrite,
        long counted,
        long output,
        boolean cut,
        Duration duration) {}
