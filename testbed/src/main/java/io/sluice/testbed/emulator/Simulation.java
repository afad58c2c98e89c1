package io.sluice.testbed.emulator;

import java.time.Duration;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a load tool states about its call in headers, instead of sending that much text. All are optional; what is absent
 * is estimated from the request.
 *
 * <pre>
 * x-emulate-agent               who calls, for the log; at most 128 characters are kept
 * x-emulate-input-tokens        fresh input, 0 to 10^8
 * x-emulate-cache-read-tokens   input read from the cache, 0 to 10^8; default 0
 * x-emulate-cache-write-tokens  input written to the cache, 0 to 10^8; default 0
 * x-emulate-output-tokens       what the model would produce, 0 to 10^6, capped by what the request allows; default 100
 * x-emulate-thinking-tokens     the part of it that is thinking and not shown, 0 to 10^6; default 0
 * x-emulate-duration-ms         acceptance to last token, 0 to 3,600,000; default by output and the emulator's pace
 * </pre>
 */
record Simulation(
        String agent,
        @Nullable Long input,
        long cacheRead,
        long cacheWrite,
        long output,
        long thinking,
        @Nullable Duration duration) {

    private static final long MOST_INPUT = 100_000_000;
    private static final long MOST_OUTPUT = 1_000_000;
    private static final long MOST_MS = 3_600_000;

    /** @throws BadRequest if a number is not one or is out of range, naming its header */
    static Simulation of(UnaryOperator<@Nullable String> headers) {
        String agent = headers.apply("x-emulate-agent");
        Long durationMs = number(headers, "x-emulate-duration-ms", MOST_MS);
        return new Simulation(
                agent == null || agent.isBlank() ? "-" : agent.substring(0, Math.min(agent.length(), 128)),
                number(headers, "x-emulate-input-tokens", MOST_INPUT),
                orElse(number(headers, "x-emulate-cache-read-tokens", MOST_INPUT), 0),
                orElse(number(headers, "x-emulate-cache-write-tokens", MOST_INPUT), 0),
                orElse(number(headers, "x-emulate-output-tokens", MOST_OUTPUT), 100),
                orElse(number(headers, "x-emulate-thinking-tokens", MOST_OUTPUT), 0),
                durationMs == null ? null : Duration.ofMillis(durationMs));
    }

    /** Fresh input: as stated, else the request's text. */
    long input(JsonNode body) {
        return input == null ? TextSize.tokens(body) : input;
    }

    /**
     * The call this is.
     *
     * @param body of the request
     * @param cap the most output it allows; {@code null} if it names none
     * @param counts what of it counts
     */
    Call call(JsonNode body, String model, boolean streams, @Nullable Long cap, int tokensPerSecond, Counts counts) {
        long fresh = input(body);
        long made = cap == null ? output : Math.min(output, cap);
        return new Call(
                agent,
                model,
                streams,
                fresh,
                cacheRead,
                cacheWrite,
                counts.input(fresh, cacheRead, cacheWrite),
                counts.charge(fresh + cacheRead + cacheWrite, cap),
                made,
                Math.min(thinking, made),
                made < output,
                duration == null ? Duration.ofMillis(made * 1_000 / tokensPerSecond) : duration);
    }

    /** A provider's rules of what counts. */
    interface Counts {
        /** Toward {@code itpm}; unless a provider says so, the whole prompt. */
        default long input(long fresh, long cacheRead, long cacheWrite) {
            return fresh + cacheRead + cacheWrite;
        }

        /** Toward {@code tpm} when a call begins; unless a provider says so, the whole prompt. */
        default long charge(long prompt, @Nullable Long cap) {
            return prompt;
        }
    }

    private static long orElse(@Nullable Long value, long otherwise) {
        return value == null ? otherwise : value;
    }

    private static @Nullable Long number(UnaryOperator<@Nullable String> headers, String name, long most) {
        String text = headers.apply(name);
        if (text == null) {
            return null;
        }
        try {
            long value = Long.parseLong(text.trim());
            if (value >= 0 && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Said below, as for a number out of range.
        }
        throw new BadRequest(name + ": must be a whole number from 0 to " + most);
    }
}
