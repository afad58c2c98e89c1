package io.sluice.provider;

import static io.sluice.provider.Heard.is;

import io.sluice.LimitReading;
import io.sluice.Rejection.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a "no" of OpenAI means; the first rule that matches. Its {@code code} comes before its {@code type}: an empty
 * account, a spend limit and a rate limit share the status, and the first two the type.
 *
 * <p>Sources: developers.openai.com, rate limits, error codes and flex guides; the openai-openapi specification;
 * openai/codex for in-stream errors and plans; texts as quoted in public repositories.
 */
final class OpenAiErrors {
    private static final Wait FLEX = new Wait(null, "backoff (30 s class)");
    private static final Wait BATCH = new Wait(null, "when a running batch ends");

    private final Heard heard;
    private final OpenAiProblem problem;
    private final List<LimitReading> limits;

    private OpenAiErrors(Heard heard, OpenAiProblem problem) {
        this.heard = heard;
        this.problem = problem;
        this.limits = heard.streamed() ? List.of() : OpenAiHeaders.limits(heard.headers());
    }

    /** The verdict, or {@code null} if it is no refusal. */
    static @Nullable Verdict read(Heard heard) {
        OpenAiProblem problem = OpenAiProblem.in(heard);
        return problem == null ? null : new OpenAiErrors(heard, problem).verdict();
    }

    private Verdict verdict() {
        Verdict money = money();
        if (money != null) {
            return money;
        }
        if (is(problem.type(), "usage_limit_reached")) {
            return planWindow();
        }
        if (isBatchQueueFull()) {
            return Verdict.retry(Kind.TOKENS, Pause.BATCH_QUEUE, BATCH)
                    .fact("limit", Words.after(problem.message(), "limit"))
                    .fact("sub", "enqueued");
        }
        int status = problem.status();
        if (status == 429 || is(problem.code(), "rate_limit_exceeded")) {
            return rate();
        }
        if (status == 503 && is(problem.code(), "slow_down")) {
            return Verdict.retry(Kind.OVERLOAD, Pause.ORG_MODEL, stated(Wait.BACKOFF));
        }
        if (status == 503
                && (is(problem.code(), "server_is_overloaded")
                        || is(problem.type(), "service_unavailable_error")
                        || Words.say(problem.message(), "overloaded"))) {
            return Verdict.retry(Kind.OVERLOAD, Pause.PROVIDER_MODEL, stated(Wait.BACKOFF));
        }
        if (status >= 500 || status == 408 || status == 409) {
            return Verdict.server(stated(Wait.BACKOFF));
        }
        return status == 402 ? Verdict.stop(Kind.CREDITS, Pause.ORG, Wait.OPERATOR) : Verdict.invalid();
    }

    private @Nullable Verdict money() {
        String code = problem.code();
        if (is(code, "credit_balance_exhausted", "insufficient_quota", "billing_not_active")) {
            return Verdict.stop(Kind.CREDITS, Pause.ORG, Wait.OPERATOR).fact("code", code);
        }
        if (is(code, "organization_spend_limit_exceeded", "organization_usage_limit_exceeded")) {
            return Verdict.stop(Kind.SPEND, Pause.ORG, new Wait(null, "next monthly reset or operator action"));
        }
        if (is(code, "billing_hard_limit_reached")) {
            return Verdict.stop(Kind.SPEND, Pause.ORG, Wait.OPERATOR);
        }
        if (is(code, "project_spend_limit_exceeded")) {
            return Verdict.stop(Kind.SPEND, Pause.PROJECT, new Wait(null, "next monthly reset or operator action"));
        }
        if (is(problem.type(), "insufficient_quota")) {
            return Verdict.stop(Kind.CREDITS, Pause.ORG, Wait.OPERATOR).fact("code", code.isEmpty() ? null : code);
        }
        return null;
    }

    private Verdict planWindow() {
        Instant resets = Moments.epoch(Json.whole(problem.error().path("resets_at")));
        Duration in = Spans.seconds(Json.text(problem.error().path("resets_in_seconds")));
        Wait wait = resets != null
                ? new Wait(Moments.between(heard.at(), resets), "error.resets_at (epoch seconds)")
                : in != null ? new Wait(in, "error.resets_in_seconds") : stated(Wait.OPERATOR);
        return Verdict.stop(Kind.PLAN_WINDOW, Pause.SUBSCRIPTION, wait);
    }

    private boolean isBatchQueueFull() {
        return is(problem.code(), "token_limit_exceeded")
                && (problem.isBatch() || Words.say(problem.message(), "enqueued"));
    }

    private Verdict rate() {
        String text = problem.message();
        Long limit = Words.after(text, "limit");
        Long used = Words.after(text, "used");
        Long requested = Words.after(text, "requested");
        if (Words.say(text, "request too large") || (limit != null && requested != null && requested > limit)) {
            return Verdict.stop(Kind.UNSATISFIABLE, Pause.REQUEST, Wait.NONE)
                    .fact("limit", limit)
                    .fact("requested", requested);
        }
        if (Words.say(text, "resource unavailable") || is(problem.code(), "resource_unavailable")) {
            return Verdict.retry(Kind.OVERLOAD, Pause.FLEX, stated(FLEX)).fact("billed", false);
        }
        if (Words.say(text, "(rpd)", "(tpd)", "per day")) {
            String sub = Words.say(text, "(tpd)", "tokens per day") ? "tokens" : "requests";
            return Verdict.retry(Kind.DAILY, pool(), dayWait(sub))
                    .fact("sub", sub)
                    .fact("limit", limit);
        }
        String dimension = dimension(text);
        if (dimension == null) {
            return Verdict.retry(Kind.REQUESTS, pool(), rateWait(longestUsedUp()))
                    .fact("limit", limit)
                    .unsure(Verdict.UNKNOWN_DIMENSION);
        }
        LimitReading reading = reading(dimension);
        if (text.isEmpty() && dimension.equals("requests") && isOfADay(reading)) {
            return Verdict.retry(Kind.DAILY, pool(), dayWait(dimension)).fact("sub", dimension);
        }
        Kind kind = dimension.equals("images") ? Kind.IMAGES : dimension.equals("tokens") ? Kind.TOKENS : Kind.REQUESTS;
        Verdict verdict = Verdict.retry(kind, pool(), rateWait(reading));
        if (reading != null && reading.isUsedUp()) {
            Duration reset = reading.resetIn();
            verdict.fact("zero_dimension", dimension).fact("reset_in_ms", reset == null ? null : reset.toMillis());
        }
        return verdict.fact("limit", limit).fact("used", used).fact("requested", requested);
    }

    /** By the text, then by the type, then by what the headers leave. */
    private @Nullable String dimension(String text) {
        if (Words.say(text, "(rpm)", "requests per min") || is(problem.type(), "requests")) {
            return "requests";
        }
        if (Words.say(text, "(tpm)", "tokens per min") || is(problem.type(), "tokens")) {
            return "tokens";
        }
        if (Words.say(text, "images per min", "(ipm)")) {
            return "images";
        }
        LimitReading usedUp = longestUsedUp();
        if (usedUp != null) {
            return usedUp.dimension().contains("tokens") ? "tokens" : usedUp.dimension();
        }
        // Nothing is used up, so it did not fit: one more request always does, tokens need not.
        return reading("tokens") == null ? null : "tokens";
    }

    /** Of what is used up, what takes longest to come back. */
    private @Nullable LimitReading longestUsedUp() {
        LimitReading longest = null;
        for (LimitReading limit : limits) {
            if (limit.isUsedUp() && (longest == null || reset(limit).compareTo(reset(longest)) > 0)) {
                longest = limit;
            }
        }
        return longest;
    }

    private @Nullable LimitReading reading(String dimension) {
        LimitReading usedUp = longestUsedUp();
        if (usedUp != null && dimension.equals("tokens") && usedUp.dimension().contains("tokens")) {
            return usedUp;
        }
        return limits.stream()
                .filter(limit -> limit.dimension().equals(dimension))
                .findFirst()
                .orElse(null);
    }

    /** A minute's bucket is full after a minute; what takes longer is a day's. */
    private static boolean isOfADay(@Nullable LimitReading reading) {
        return reading != null && reading.isUsedUp() && reset(reading).compareTo(Duration.ofMinutes(1)) > 0;
    }

    private Wait rateWait(@Nullable LimitReading reading) {
        Wait stated = heard.streamed() ? null : Wait.stated(heard.headers(), heard.at());
        if (stated != null) {
            return stated;
        }
        Wait told = told();
        return told == null ? Wait.orElse(OpenAiHeaders.reset(reading), () -> Wait.BACKOFF) : told;
    }

    /** Text, Retry-After, reset header; where text and reset are both there, the longer. */
    private Wait dayWait(String sub) {
        Wait told = told();
        LimitReading reading = reading(sub);
        Wait reset = reading == null || !reading.isUsedUp() ? null : OpenAiHeaders.reset(reading);
        if (told == null) {
            return stated(reset == null ? Wait.BACKOFF : reset);
        }
        return reset != null && reset.isAtLeast(told) ? reset : told;
    }

    private @Nullable Wait told() {
        Duration told = Spans.after(problem.message(), "try again in", "retry after", "retry in");
        return told == null ? null : new Wait(told, "message 'try again in'");
    }

    private Wait stated(Wait otherwise) {
        return heard.streamed() ? otherwise : Wait.orElse(Wait.stated(heard.headers(), heard.at()), () -> otherwise);
    }

    private Pause pool() {
        return Words.say(problem.message(), "(in project ", "in project ") ? Pause.PROJECT_MODEL : Pause.ORG_MODEL;
    }

    private static Duration reset(LimitReading limit) {
        Duration reset = limit.resetIn();
        return reset == null ? Duration.ZERO : reset;
    }

    /** The error node of a body, for those who read the same shape. */
    static JsonNode errorOf(JsonNode json) {
        return OpenAiProblem.node(json);
    }
}
