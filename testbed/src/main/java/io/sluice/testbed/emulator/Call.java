package io.sluice.testbed.emulator;

import java.time.Duration;

/**
 * One request for an answer, read from its dialect. Sizes are in tokens; input, cacheRead, cacheWrite and output do not
 * overlap.
 *
 * @param agent who the request says it is, {@code -} if it does not
 * @param streams whether the answer is an event stream
 * @param counted input that counts toward {@code itpm}, by this provider's rule
 * @param charged what it takes of {@code tpm} and {@code tpd} when it begins, by this provider's rule
 * @param output what will be produced unless the client leaves
 * @param thinking the part of the output that is not shown
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
        long charged,
        long output,
        long thinking,
        boolean cut,
        Duration duration) {

    /** One that is charged what is counted, and does not think. */
    Call(
            String agent,
            String model,
            boolean streams,
            long input,
            long cacheRead,
            long cacheWrite,
            long counted,
            long output,
            boolean cut,
            Duration duration) {
        this(agent, model, streams, input, cacheRead, cacheWrite, counted, counted, output, 0, cut, duration);
    }

    /** All the model reads. */
    long prompt() {
        return input + cacheRead + cacheWrite;
    }

    /** The output that is shown. */
    long shown() {
        return output - thinking;
    }
}
