package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Standing.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The {@code x-ratelimit-*} headers, on answers and errors alike: limits a minute, what is left, and the time until all of
 * it is free again. Limits a day have none, but a rejection by one tells it in their place. A subscription has
 * {@code x-codex-*} headers.
 */
final class OpenAiHeaders {
    private OpenAiHeaders() {}

    static Map<String, String> of(Standing standing, long id) {
        return of(standing, id, Kind.REQUESTS, Kind.TOKENS);
    }

    /** @param denied the limit that rejected the call */
    static Map<String, String> of(Standing standing, long id, Kind denied) {
        return of(
                standing,
                id,
                denied == Kind.DAILY_REQUESTS ? denied : Kind.REQUESTS,
                denied == Kind.DAILY_TOKENS ? denied : Kind.TOKENS);
    }

    private static Map<String, String> of(Standing standing, long id, Kind requests, Kind tokens) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("x-request-id", Dialect.requestId(id));
        headers.put("openai-organization", OpenAiTexts.ORGANIZATION);
        headers.put("openai-project", "proj_emulated");
        headers.put("openai-version", "2020-10-01");
        put(headers, "requests", standing, standing.levels().get(requests));
        put(headers, "tokens", standing, standing.levels().get(tokens));
        if (standing.plan() != null) {
            plan(headers, standing.plan());
        }
        return headers;
    }

    private static void put(Map<String, String> headers, String name, Standing standing, @Nullable Level level) {
        if (level != null) {
            headers.put("x-ratelimit-limit-" + name, Long.toString(level.limit()));
            headers.put("x-ratelimit-remaining-" + name, Long.toString(level.remaining()));
            Duration reset = Duration.between(standing.at(), level.resetAt());
            headers.put("x-ratelimit-reset-" + name, OpenAiTexts.time(reset.toNanos() / 1_000));
        }
    }

    private static void plan(Map<String, String> headers, PlanWindows.Seen plan) {
        String rank = "primary";
        for (PlanWindows.Use window : plan.windows()) {
            String prefix = "x-codex-" + rank + "-";
            headers.put(prefix + "used-percent", Double.toString(Math.floor(window.used() * 1_000) / 10));
            headers.put(prefix + "window-minutes", Long.toString(window.minutes()));
            headers.put(prefix + "reset-at", Long.toString(window.resetAt().getEpochSecond()));
            rank = "secondary";
        }
    }
}
