package io.sluice.provider;

import static io.sluice.provider.Heard.is;

import io.sluice.Rejection.Kind;
import io.sluice.provider.GeminiProblem.Violation;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Locale;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a "no" of Gemini means; the first rule that matches. Everything is a 429 {@code RESOURCE_EXHAUSTED} with alarming
 * prose: what is structured (quota ids, RetryInfo) beats prose, and a day's quota beats a short RetryInfo.
 *
 * <p>Sources: ai.google.dev, rate limits page (August 2026); googleapis error_details.proto; google-gemini/gemini-cli
 * googleQuotaErrors.ts; texts as quoted in public repositories.
 */
final class GeminiErrors {
    /** Where Gemini's day ends. */
    private static final ZoneId PACIFIC = ZoneId.of("America/Los_Angeles");

    private static final String CODE_ASSIST = "cloudcode-pa.googleapis.com";
    private static final Duration SPEND_WINDOW = Duration.ofMinutes(10);
    private static final Wait SPEND_BOUND =
            new Wait(SPEND_WINDOW, "10 min rolling window = upper bound; first probe after 60 s");

    private final Heard heard;
    private final GeminiProblem problem;
    private final String text;

    private GeminiErrors(Heard heard, GeminiProblem problem) {
        this.heard = heard;
        this.problem = problem;
        this.text = problem.message();
    }

    /** The verdict, or {@code null} if it is no refusal. */
    static @Nullable Verdict read(Heard heard) {
        GeminiProblem problem = GeminiProblem.in(heard.json());
        if (problem == null) {
            if (heard.status() < 400) {
                return null;
            }
            problem = GeminiProblem.unreadable(heard.prose());
        }
        return new GeminiErrors(heard, problem).verdict();
    }

    private Verdict verdict() {
        int code = heard.status() >= 400 ? heard.status() : problem.code();
        if (code == 429
                || is(problem.status(), "RESOURCE_EXHAUSTED", "rate_limit_exceeded", "quota_exceeded")
                || is(problem.reason(), "rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded")) {
            return exhausted();
        }
        if (code == 503 || is(problem.status(), "UNAVAILABLE")) {
            return Verdict.retry(Kind.OVERLOAD, Pause.PROVIDER_MODEL, stated(Wait.BACKOFF));
        }
        boolean server = code >= 500
                || code == 408
                || code == 499
                || is(problem.status(), "INTERNAL", "DEADLINE_EXCEEDED", "CANCELLED", "server_error", "api_error");
        // Without any code in a stream nobody can say that the request was wrong.
        return server || (code == 0 && !isOfTheRequest()) ? Verdict.server(stated(Wait.BACKOFF)) : Verdict.invalid();
    }

    private boolean isOfTheRequest() {
        return problem.status().toLowerCase(Locale.ROOT).startsWith("invalid")
                || is(problem.status(), "FAILED_PRECONDITION", "PERMISSION_DENIED", "NOT_FOUND", "UNAUTHENTICATED");
    }

    private Verdict exhausted() {
        if (Words.say(text, "prepayment credits")) {
            return Verdict.stop(Kind.CREDITS, Pause.BILLING, Wait.OPERATOR);
        }
        if (Words.say(text, "monthly spending cap")) {
            return Verdict.stop(Kind.SPEND, Pause.PROJECT, new Wait(null, "operator action or next month"));
        }
        if (Words.say(text, "spend-based rate limit", "spending rate")) {
            Verdict spend = Verdict.retry(Kind.SPEND, Pause.ALL_MODELS, delay(SPEND_BOUND))
                    .fact("sub", "10min");
            return spend.waiting().equals(SPEND_BOUND) ? spend.firstTryAfter(Duration.ofSeconds(60)) : spend;
        }
        if (problem.domain().equals(CODE_ASSIST)) {
            if (is(problem.reason(), "QUOTA_EXHAUSTED", "INSUFFICIENT_G1_CREDITS_BALANCE")) {
                return Verdict.stop(Kind.PLAN_WINDOW, Pause.USER_MODEL, delay(Wait.OPERATOR));
            }
            if (is(problem.reason(), "MODEL_CAPACITY_EXHAUSTED")) {
                return Verdict.retry(Kind.OVERLOAD, Pause.PROVIDER_MODEL, delay(Wait.BACKOFF))
                        .fact("reason", problem.reason());
            }
        }
        return quota();
    }

    private Verdict quota() {
        Violation closed = violation(v -> v.value() != null && v.value() == 0);
        if (closed != null || Words.sayZero(text, "limit:")) {
            return Verdict.stop(Kind.NOT_PROVISIONED, Pause.PROJECT_MODEL, Wait.OPERATOR)
                    .fact("limit", 0L)
                    .fact("quota_id", closed == null || closed.id().isEmpty() ? null : closed.id());
        }
        Violation daily = violation(v -> v.says("perday", "per_day", "daily"));
        if (daily != null || is(problem.reason(), "dailyLimitExceeded")) {
            return day(daily);
        }
        Violation tokens = violation(v -> v.says("inputtokens", "input_token", "token_count"));
        if (tokens != null) {
            return minute(Kind.INPUT, tokens);
        }
        Violation requests = violation(v -> v.says("requests"));
        if (requests != null) {
            return minute(Kind.REQUESTS, requests);
        }
        if (is(problem.status(), "quota_exceeded")) {
            return day(null);
        }
        Verdict verdict = Verdict.retry(Kind.REQUESTS, Pause.PROJECT_MODEL, delay(Wait.BACKOFF));
        if (is(problem.reason(), "RATE_LIMIT_EXCEEDED")) {
            return verdict;
        }
        boolean interactions = is(problem.status(), "rate_limit_exceeded");
        return verdict.unsure(interactions ? "minute or second window, requests or tokens" : Verdict.UNKNOWN_DIMENSION);
    }

    private Verdict minute(Kind kind, Violation violation) {
        return Verdict.retry(kind, Pause.PROJECT_MODEL, delay(Wait.BACKOFF))
                .fact("limit", limit(violation))
                .fact("quota_id", violation.id().isEmpty() ? null : violation.id());
    }

    private Verdict day(@Nullable Violation violation) {
        Instant midnight = Moments.nextDay(heard.at(), PACIFIC);
        Wait wait = new Wait(Moments.between(heard.at(), midnight), "midnight America/Los_Angeles");
        Verdict day = Verdict.stop(Kind.DAILY, Pause.PROJECT_MODEL, wait).until(midnight, heard.at());
        if (violation != null) {
            boolean tokens = violation.says("tokens", "token_count");
            day.fact("sub", tokens ? "tokens" : "requests").fact("limit", limit(violation));
        }
        return day.fact("retry_info_ignored", problem.retryDelay().isEmpty() ? null : problem.retryDelay());
    }

    private @Nullable Long limit(Violation violation) {
        return violation.value() == null ? Words.after(text, "limit:") : violation.value();
    }

    /** A header if there ever is one; the longer of RetryInfo, which is cut to seconds, and the text. */
    private Wait delay(Wait otherwise) {
        Wait stated = heard.streamed() ? null : Wait.stated(heard.headers(), heard.at());
        if (stated != null) {
            return stated;
        }
        Duration info = problem.retryDelay().isEmpty() ? null : Spans.parse(problem.retryDelay());
        Duration told = Spans.after(text, "retry in", "try again in", "retry after");
        if (info == null) {
            return told == null ? otherwise : new Wait(told, "message 'retry in'");
        }
        return told == null || told.equals(info)
                ? new Wait(info, "RetryInfo")
                : new Wait(told.compareTo(info) > 0 ? told : info, "max(RetryInfo, message) rounded up");
    }

    private Wait stated(Wait otherwise) {
        return heard.streamed() ? otherwise : Wait.orElse(Wait.stated(heard.headers(), heard.at()), () -> otherwise);
    }

    private @Nullable Violation violation(Predicate<Violation> condition) {
        return problem.violations().stream().filter(condition).findFirst().orElse(null);
    }
}
