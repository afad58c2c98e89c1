package io.sluice.provider;

import io.sluice.LimitReading;
import io.sluice.PlanWindow;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code anthropic-ratelimit-*}: whole numbers and RFC 3339 times at which a bucket is full again. What is left of tokens
 * is rounded to thousands. Subscriptions ({@code unified}) have shares used and epoch seconds instead.
 *
 * <p>Sources: platform.claude.com, rate limits, service tiers and fast mode pages (August 2026); the unified headers and
 * the fast pool's zero limit as quoted in public repositories.
 */
final class AnthropicHeaders {
    private static final String UNIFIED = "anthropic-ratelimit-unified-";
    private static final long ROUNDED_TO = 1_000;

    private AnthropicHeaders() {}

    static List<LimitReading> limits(Headers headers, Instant at) {
        List<LimitReading> limits = new ArrayList<>();
        add(limits, "requests", "anthropic-ratelimit-requests", 1, headers, at);
        add(limits, "input", "anthropic-ratelimit-input-tokens", ROUNDED_TO, headers, at);
        add(limits, "output", "anthropic-ratelimit-output-tokens", ROUNDED_TO, headers, at);
        add(limits, "tokens", "anthropic-ratelimit-tokens", ROUNDED_TO, headers, at);
        add(limits, "priority_input", "anthropic-priority-input-tokens", 1, headers, at);
        add(limits, "priority_output", "anthropic-priority-output-tokens", 1, headers, at);
        add(limits, "fast_input", "anthropic-fast-input-tokens", 1, headers, at);
        add(limits, "fast_output", "anthropic-fast-output-tokens", 1, headers, at);
        return limits;
    }

    /** A subscription's windows: {@code 5h}, {@code 7d}, {@code 7d_oi} and whatever comes. */
    static List<PlanWindow> windows(Headers headers, Instant at) {
        List<PlanWindow> windows = new ArrayList<>();
        for (String name : headers.names()) {
            if (name.startsWith(UNIFIED) && name.endsWith("-utilization")) {
                String window = name.substring(UNIFIED.length(), name.length() - "-utilization".length());
                windows.add(new PlanWindow(
                        window,
                        share(headers.first(name)),
                        Spans.parse(window.split("_", 2)[0]),
                        epochIn(headers, UNIFIED + window + "-reset", at),
                        headers.is(UNIFIED + window + "-status", "rejected")));
            }
        }
        return windows;
    }

    /** The window that made it say no: the one it names, else the first that rejects. */
    static @Nullable PlanWindow deciding(Headers headers, Instant at) {
        String claim = headers.first(UNIFIED + "representative-claim");
        String named = claim == null ? "" : claim.replace("five_hour", "5h").replace("seven_day", "7d");
        PlanWindow rejecting = null;
        for (PlanWindow window : windows(headers, at)) {
            if (window.name().equals(named)) {
                return window;
            }
            rejecting = rejecting == null && window.rejecting() ? window : rejecting;
        }
        return rejecting;
    }

    /** When the plan's window ends, by the header for the whole. */
    static @Nullable Duration planReset(Headers headers, Instant at) {
        return epochIn(headers, UNIFIED + "reset", at);
    }

    private static void add(
            List<LimitReading> limits, String dimension, String prefix, long step, Headers headers, Instant at) {
        if (!headers.hasAny(prefix + "-limit", prefix + "-remaining", prefix + "-reset")) {
            return;
        }
        Instant reset = headers.most(prefix + "-reset", Moments::rfc3339);
        limits.add(new LimitReading(
                dimension,
                headers.least(prefix + "-limit"),
                headers.least(prefix + "-remaining"),
                reset == null ? null : Moments.between(at, reset),
                step));
    }

    private static @Nullable Duration epochIn(Headers headers, String name, Instant at) {
        Instant reset = Moments.epoch(headers.least(name));
        return reset == null ? null : Moments.between(at, reset);
    }

    private static @Nullable Double share(@Nullable String text) {
        Duration thousandths = Spans.seconds(text);
        return thousandths == null ? null : Double.valueOf(text == null ? "0" : text.strip());
    }
}
