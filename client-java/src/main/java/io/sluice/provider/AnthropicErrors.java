package io.sluice.provider;

import io.sluice.LimitReading;
import io.sluice.PlanWindow;
import io.sluice.Rejection.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a "no" of Anthropic means; the first rule that matches. Its 429 stands for a dozen things, so the order matters:
 * money before rates, the acceleration text before the input text it contains, the fast pool before the normal one.
 *
 * <p>Sources: platform.claude.com, rate limits and errors pages (August 2026); Claude apps gateway documentation; texts
 * of concurrency, acceleration and subscription refusals as quoted in public repositories.
 */
final class AnthropicErrors {
    private static final String ACTION = "lower the in-flight cap; pause admission until one call ends";

    private final Heard heard;
    private final int code;
    private final String type;
    private final String message;
    private final List<LimitReading> limits;
    private final @Nullable Wait stated;

    private AnthropicErrors(Heard heard, int code, String type, String message) {
        this.heard = heard;
        this.code = code;
        this.type = type;
        this.message = message;
        this.limits = heard.streamed() ? List.of() : AnthropicHeaders.limits(heard.headers(), heard.at());
        this.stated = heard.streamed() ? null : Wait.stated(heard.headers(), heard.at());
    }

    /** The verdict, or {@code null} if it is no refusal. */
    static @Nullable Verdict read(Heard heard) {
        JsonNode error = heard.json().path("error");
        String type = Json.text(error.path("type"));
        String message = error.isObject() ? Json.text(error.path("message")) : heard.prose();
        int code = heard.status() >= 400 ? heard.status() : error.isObject() ? codeOf(type) : 0;
        return code < 400 ? null : new AnthropicErrors(heard, code, type, message).verdict();
    }

    /** The status an error has outside of a stream. */
    private static int codeOf(String type) {
        return switch (type) {
            case "invalid_request_error" -> 400;
            case "authentication_error" -> 401;
            case "billing_error" -> 402;
            case "permission_error" -> 403;
            case "not_found_error" -> 404;
            case "conflict_error" -> 409;
            case "request_too_large" -> 413;
            case "rate_limit_error" -> 429;
            case "timeout_error" -> 504;
            case "overloaded_error" -> 529;
            default -> 500;
        };
    }

    private Verdict verdict() {
        Verdict money = AnthropicMoney.read(heard, code, type, message, stated);
        if (money != null) {
            return money;
        }
        if (code == 529 || type.equals("overloaded_error")) {
            return Verdict.retry(Kind.OVERLOAD, Pause.PROVIDER_MODEL, statedOrBackoff());
        }
        if (code == 429) {
            return tooMany();
        }
        return code >= 500 || code == 408 || code == 409 ? Verdict.server(statedOr(Wait.BACKOFF)) : Verdict.invalid();
    }

    private Verdict tooMany() {
        if (heard.headers().is("anthropic-ratelimit-unified-status", "rejected")) {
            return planWindow();
        }
        LimitReading fastInput = limit("fast_input");
        LimitReading fastOutput = limit("fast_output");
        if ((isClosed(fastInput) || isClosed(fastOutput)) && stated == null) {
            return Verdict.stop(Kind.NOT_PROVISIONED, Pause.ORG_FAST_POOL, Wait.OPERATOR)
                    .fact("pool", "fast")
                    .fact("limit", 0L);
        }
        if (Words.say(message, "maximum usage increase rate", "acceleration limit")) {
            return acceleration();
        }
        if (Words.say(message, "concurrent connections")) {
            return Verdict.retry(
                            Kind.CONCURRENCY, Pause.ORG, statedOr(new Wait(null, "backoff or first completed call")))
                    .fact("action", ACTION);
        }
        boolean fast = "fast".equals(heard.answer().speed())
                || Words.say(message, "fast mode")
                || isUsedUp(fastInput)
                || isUsedUp(fastOutput);
        return dimension(fast);
    }

    private Verdict planWindow() {
        PlanWindow window = AnthropicHeaders.deciding(heard.headers(), heard.at());
        Duration reset = AnthropicHeaders.planReset(heard.headers(), heard.at());
        if (reset == null && window != null) {
            reset = window.resetIn();
        }
        Wait wait = new Wait(stated == null ? reset : stated.length(), "retry-after / unified-reset (epoch SECONDS)");
        return Verdict.stop(Kind.PLAN_WINDOW, Pause.SUBSCRIPTION, wait)
                .fact("window", window == null ? null : window.name())
                .fact("utilization", window == null ? null : window.used());
    }

    private Verdict acceleration() {
        Instant minute = Moments.nextMinute(heard.at());
        Wait boundary =
                new Wait(Moments.between(heard.at(), minute), "next minute boundary (no retry-after in this sample)");
        return Verdict.retry(Kind.ACCELERATION, poolOrWorkspace(), statedOr(boundary))
                .fact("ramp_limit", Words.after(message, "current limit is"))
                .fact("ramp_next", Words.after(message, "increase to"))
                .fact("unit", unit());
    }

    /** Which rate it was: by the text, else by what the headers say is used up. */
    private Verdict dimension(boolean fast) {
        String unit = unit();
        String dimension = unit == null ? usedUp(fast) : unit.substring(0, unit.indexOf(' '));
        if (dimension == null) {
            return Verdict.retry(Kind.REQUESTS, fast ? Pause.ORG_FAST_POOL : Pause.ORG_MODEL, statedOrBackoff())
                    .unsure(Verdict.UNKNOWN_DIMENSION);
        }
        LimitReading reading = limit(fast && !dimension.equals("requests") ? "fast_" + dimension : dimension);
        boolean zero = reading != null && reading.isUsedUp();
        Wait wait = stated != null ? stated : rateWait(dimension, zero ? reading : null);
        Verdict verdict = Verdict.retry(
                Kind.valueOf(dimension.toUpperCase(Locale.ROOT)), fast ? Pause.ORG_FAST_POOL : poolOrWorkspace(), wait);
        if (reading != null && zero) {
            verdict.fact("zero_dimension", dimension);
            Duration reset = reading.resetIn();
            verdict.fact("reset_in_ms", reset == null ? null : reset.toMillis());
        }
        verdict.fact("pool", fast ? "fast" : null);
        return unit == null
                ? verdict
                : verdict.fact("limit", Words.before(message, unit)).fact("unit", unit);
    }

    private Wait rateWait(String dimension, @Nullable LimitReading usedUp) {
        if (!heard.headers().known() && !heard.streamed()) {
            return new Wait(null, "see .headers");
        }
        Duration reset = usedUp == null ? null : usedUp.resetIn();
        String header = dimension.equals("requests") || dimension.equals("tokens") ? dimension : dimension + "-tokens";
        return reset == null ? Wait.BACKOFF : new Wait(reset, "anthropic-ratelimit-" + header + "-reset");
    }

    private @Nullable String unit() {
        for (String unit : List.of(
                "input tokens per minute", "output tokens per minute", "requests per minute", "tokens per minute")) {
            if (Words.say(message, unit)) {
                return unit;
            }
        }
        return null;
    }

    private @Nullable String usedUp(boolean fast) {
        for (String dimension : List.of("input", "output", "requests", "tokens")) {
            if (isUsedUp(limit(fast ? "fast_" + dimension : dimension))) {
                return dimension;
            }
        }
        return null;
    }

    private Pause poolOrWorkspace() {
        return Words.say(message, "workspace") ? Pause.WORKSPACE_MODEL : Pause.ORG_MODEL;
    }

    private Wait statedOr(Wait other) {
        return stated == null ? other : stated;
    }

    private Wait statedOrBackoff() {
        return statedOr(heard.headers().known() || heard.streamed() ? Wait.BACKOFF : Wait.RETRY_AFTER_OR_BACKOFF);
    }

    private @Nullable LimitReading limit(String dimension) {
        return limits.stream()
                .filter(limit -> limit.dimension().equals(dimension))
                .findFirst()
                .orElse(null);
    }

    private static boolean isUsedUp(@Nullable LimitReading limit) {
        return limit != null && limit.isUsedUp();
    }

    private static boolean isClosed(@Nullable LimitReading limit) {
        return limit != null && limit.limit() != null && limit.limit() == 0;
    }
}
