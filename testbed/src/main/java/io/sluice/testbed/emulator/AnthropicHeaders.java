package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Standing.Level;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The {@code anthropic-ratelimit-*} headers, on answers and errors alike. Limits are per minute whatever the counting;
 * {@code remaining} is what is left at this moment, tokens rounded to thousands; {@code reset} is when all of it is free
 * again, cut to whole seconds, so it may lie at or before the answer's date, as the real one does.
 */
final class AnthropicHeaders {
    static final String ORGANIZATION = "00000000-0000-4000-8000-000000000000";

    private AnthropicHeaders() {}

    /** In the order the real ones come in; a limit that is not set has none. */
    static Map<String, String> rates(Standing standing) {
        Level input = standing.levels().get(Kind.INPUT);
        Level output = standing.levels().get(Kind.OUTPUT);
        Map<String, String> headers = new LinkedHashMap<>();
        put(headers, "requests", standing.levels().get(Kind.REQUESTS), 1);
        put(headers, "input-tokens", input, 1_000);
        put(headers, "output-tokens", output, 1_000);
        put(headers, "tokens", together(input, output), 1_000);
        return headers;
    }

    private static void put(Map<String, String> headers, String name, @Nullable Level level, long granularity) {
        if (level != null) {
            String prefix = "anthropic-ratelimit-" + name;
            headers.put(prefix + "-limit", Long.toString(level.limit()));
            headers.put(prefix + "-remaining", Long.toString(rounded(level.remaining(), granularity)));
            headers.put(
                    prefix + "-reset",
                    level.resetAt().truncatedTo(ChronoUnit.SECONDS).toString());
        }
    }

    private static long rounded(long amount, long granularity) {
        return (amount + granularity / 2) / granularity * granularity;
    }

    /** The {@code tokens} headers: without a workspace's own limit, input and output added up. */
    private static @Nullable Level together(@Nullable Level input, @Nullable Level output) {
        if (input == null || output == null) {
            return input == null ? output : input;
        }
        Instant later = input.resetAt().isAfter(output.resetAt()) ? input.resetAt() : output.resetAt();
        return new Level(input.limit() + output.limit(), input.remaining() + output.remaining(), later);
    }

    static String withCommas(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }
}
