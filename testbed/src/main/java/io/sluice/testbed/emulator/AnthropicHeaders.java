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
        Level own = standing.levels().get(Kind.TOKENS);
        put(headers, "tokens", own == null ? together(input, output) : own, 1_000);
        if (standing.plan() != null) {
            plan(headers, standing.plan());
        }
        return headers;
    }

    /** A subscription's {@code unified} headers: resets in epoch seconds. Follows replies seen in public. */
    private static void plan(Map<String, String> headers, PlanWindows.Seen plan) {
        String prefix = "anthropic-ratelimit-unified-";
        PlanWindows.Use deciding = plan.deciding();
        headers.put(prefix + "status", status(deciding));
        headers.put(prefix + "reset", Long.toString(deciding.resetAt().getEpochSecond()));
        headers.put(prefix + "representative-claim", deciding.name().equals("5h") ? "five_hour" : "seven_day");
        for (PlanWindows.Use window : plan.windows()) {
            headers.put(prefix + window.name() + "-status", status(window));
            headers.put(
                    prefix + window.name() + "-reset",
                    Long.toString(window.resetAt().getEpochSecond()));
            headers.put(prefix + window.name() + "-utilization", utilization(window.used()));
        }
        headers.put(prefix + "fallback-percentage", "0.5");
        headers.put(prefix + "overage-status", "rejected");
        headers.put(prefix + "overage-disabled-reason", "out_of_credits");
    }

    private static String status(PlanWindows.Use window) {
        return window.isUsedUp() ? "rejected" : window.warns() ? "allowed_warning" : "allowed";
    }

    /** Cut, not rounded: 1.0 is used up. */
    private static String utilization(double used) {
        return Double.toString(Math.floor(used * 100) / 100);
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
