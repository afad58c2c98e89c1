package io.sluice.provider;

import io.sluice.LimitReading;
import io.sluice.PlanWindow;
import io.sluice.Provider;
import io.sluice.Rejection.Kind;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A reading in words and numbers: what {@code ./sluice classify} prints. {@code class} says what it is: {@code usage}
 * (tokens), {@code limit} (a refusal that must pause something), {@code error} (another failure), {@code headers} (what
 * the headers say), {@code count}, {@code config}.
 */
final class Explanation {
    private Explanation() {}

    static Map<String, Object> refusal(Heard heard, Verdict verdict) {
        boolean error = verdict.kind() == Kind.SERVER || verdict.kind() == Kind.INVALID;
        Map<String, Object> told = start(error ? "error" : "limit");
        told.put("kind", verdict.kind().label());
        told.put("retryable", verdict.isRetryable());
        Duration length = verdict.waiting().length();
        if (!error || length != null) {
            told.put("wait_ms", length == null ? null : length.toMillis());
        }
        if (!error || verdict.isRetryable()) {
            told.put("wait_source", verdict.waiting().source());
        }
        told.put("pause_scope", verdict.pause().text());
        told.put("scope", verdict.pause().scope().label());
        told.putAll(verdict.facts());
        if (heard.streamed()) {
            if (!error) {
                told.put("http_status", heard.status());
            }
            told.put("in_stream", true);
        } else if (heard.status() != 429 && !verdict.pause().equals(Pause.BATCH_QUEUE)) {
            told.put("http_status", heard.status());
        }
        put(told, "certainty", verdict.certainty());
        String code = error ? Json.text(OpenAiProblem.node(heard.json()).path("code")) : "";
        put(told, "code", heard.streamed() && !code.isEmpty() ? code : null);
        String retry = heard.streamed() ? null : heard.headers().first("x-should-retry");
        if (Heard.is(retry, "true", "false")) {
            told.put("should_retry", Boolean.valueOf(retry));
        }
        return told;
    }

    static Map<String, Object> usage(Tokens tokens, boolean complete) {
        Map<String, Object> told = start("usage");
        put(told, "input_fresh", tokens.fresh());
        put(told, "cache_write", tokens.cacheWrite());
        put(told, "cache_read", tokens.cacheRead());
        put(told, "input_total", tokens.input());
        put(told, "output", tokens.output());
        put(told, "counts_to_input_limit", tokens.counted());
        told.put("final", complete);
        told.putAll(tokens.more());
        return told;
    }

    static Map<String, Object> headers(Dialect dialect, Heard heard) {
        Headers headers = heard.headers();
        Map<String, Object> told = start("headers");
        put(told, "request_id", headers.first(dialect.requestId()));
        put(told, "workspace", headers.first("anthropic-workspace-id"));
        Map<String, Object> policies = RateLimitFields.policies(headers);
        Map<String, Object> draft = RateLimitFields.limits(headers);
        put(told, "policies", headers.has("ratelimit-policy") ? policies : null);
        put(told, "limits", headers.has("ratelimit") ? draft : null);
        for (LimitReading limit : dialect.limits().read(headers, heard.at())) {
            if (!draft.containsKey(limit.dimension())) {
                told.put(limit.dimension(), limit(limit));
            }
        }
        put(told, "plan", headers.first("anthropic-ratelimit-unified-status"));
        for (PlanWindow window : dialect.windows().read(headers, heard.at())) {
            told.put(window.name(), window(window, dialect.provider()));
        }
        if (heard.status() >= 400 || headers.hasAny("retry-after", "retry-after-ms")) {
            Wait stated = Wait.stated(headers, heard.at());
            Duration length = stated == null ? null : stated.length();
            told.put("retry_after", length == null ? null : length.toMillis());
        }
        Map<String, Object> lengths = new LinkedHashMap<>();
        for (String name : headers.names()) {
            // How tables of durations are written, such as the one in the tests.
            if (name.startsWith("x-case-")) {
                Duration length = headers.most(name, Spans::parse);
                lengths.put(name, length == null ? null : length.toMillis());
            }
        }
        put(told, "ms", lengths.isEmpty() ? null : lengths);
        return told;
    }

    private static Map<String, Object> limit(LimitReading limit) {
        Map<String, Object> told = new LinkedHashMap<>();
        put(told, "limit", limit.limit());
        put(told, "remaining", limit.remaining());
        Duration reset = limit.resetIn();
        put(told, "reset_in_ms", reset == null ? null : reset.toMillis());
        put(told, "granularity", limit.step() == 1 ? null : limit.step());
        return told;
    }

    private static Map<String, Object> window(PlanWindow window, Provider provider) {
        Map<String, Object> told = new LinkedHashMap<>();
        Double used = window.used();
        if (provider == Provider.OPENAI) {
            put(told, "used_percent", used == null ? null : used * 100);
            Duration length = window.length();
            put(told, "window_min", length == null ? null : length.toMinutes());
        } else {
            put(told, "status", window.rejecting() ? "rejected" : "allowed");
            put(told, "utilization", used);
        }
        Duration reset = window.resetIn();
        put(told, "reset_in_ms", reset == null ? null : reset.toMillis());
        return told;
    }

    private static Map<String, Object> start(String name) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("class", name);
        return told;
    }

    private static void put(Map<String, Object> told, String name, @Nullable Object value) {
        if (value != null) {
            told.put(name, value);
        }
    }
}
