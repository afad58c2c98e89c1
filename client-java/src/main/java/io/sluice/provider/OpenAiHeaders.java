package io.sluice.provider;

import io.sluice.LimitReading;
import io.sluice.PlanWindow;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * {@code x-ratelimit-{limit,remaining,reset}-*}: whole numbers and Go durations until the bucket is full. A negative
 * {@code remaining} means unknown. ChatGPT plans have {@code x-codex-*}: percent used, minutes, epoch seconds.
 *
 * <p>Sources: developers.openai.com, rate limits guide; openai/codex rate_limits.rs; Azure's bare seconds and -1 as
 * reported to learn.microsoft.com.
 */
final class OpenAiHeaders {
    private static final String LIMIT = "x-ratelimit-limit-";
    private static final String REMAINING = "x-ratelimit-remaining-";
    private static final String RESET = "x-ratelimit-reset-";

    private OpenAiHeaders() {}

    /** {@code requests}, {@code tokens}, {@code project_tokens} and whatever else comes, in this order. */
    static List<LimitReading> limits(Headers headers) {
        List<String> names = new ArrayList<>(List.of("requests", "tokens", "project-tokens"));
        for (String header : headers.names()) {
            for (String prefix : List.of(LIMIT, REMAINING, RESET)) {
                String name = header.startsWith(prefix) ? header.substring(prefix.length()) : "";
                if (!name.isEmpty() && !names.contains(name)) {
                    names.add(name);
                }
            }
        }
        List<LimitReading> limits = new ArrayList<>();
        for (String name : names) {
            if (headers.hasAny(LIMIT + name, REMAINING + name, RESET + name)) {
                limits.add(new LimitReading(
                        name.replace('-', '_'),
                        headers.least(LIMIT + name),
                        headers.least(REMAINING + name),
                        headers.most(RESET + name, Spans::parse),
                        1));
            }
        }
        return limits;
    }

    /** The wait until a limit is full again, or {@code null} if its header does not say. */
    static @Nullable Wait reset(@Nullable LimitReading limit) {
        Duration reset = limit == null ? null : limit.resetIn();
        return limit == null || reset == null
                ? null
                : new Wait(reset, RESET + limit.dimension().replace('_', '-'));
    }

    /** A plan's {@code primary} and {@code secondary} window. */
    static List<PlanWindow> windows(Headers headers, Instant at) {
        List<PlanWindow> windows = new ArrayList<>();
        for (String name : List.of("primary", "secondary")) {
            String prefix = "x-codex-" + name;
            if (!headers.hasAny(prefix + "-used-percent", prefix + "-window-minutes", prefix + "-reset-at")) {
                continue;
            }
            Double percent = percent(headers.first(prefix + "-used-percent"));
            Long minutes = headers.least(prefix + "-window-minutes");
            Instant reset = Moments.epoch(headers.least(prefix + "-reset-at"));
            windows.add(new PlanWindow(
                    name,
                    percent == null ? null : percent / 100,
                    minutes == null || minutes > 1_000_000 ? null : Duration.ofMinutes(minutes),
                    reset == null ? null : Moments.between(at, reset),
                    percent != null && percent >= 100));
        }
        return windows;
    }

    private static @Nullable Double percent(@Nullable String text) {
        return text == null || Spans.seconds(text) == null
                ? null
                : Double.valueOf(text.strip().toLowerCase(Locale.ROOT));
    }
}
