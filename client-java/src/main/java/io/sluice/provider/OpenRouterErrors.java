package io.sluice.provider;

import static io.sluice.provider.Heard.is;

import io.sluice.Rejection.Kind;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a "no" of OpenRouter means; the first rule that matches. Where it comes from decides: the platform's own limits
 * ({@code limit_source}), the account's money (402), or an upstream provider, which is no budget of ours.
 *
 * <p>Sources: OpenRouterTeam/docs, limits, errors and streaming pages (August 2026); bodies as quoted in public
 * repositories.
 */
final class OpenRouterErrors {
    private static final String COPY = "metadata.headers.X-RateLimit-Reset";

    private final Heard heard;
    private final OpenRouterProblem problem;

    private OpenRouterErrors(Heard heard, OpenRouterProblem problem) {
        this.heard = heard;
        this.problem = problem;
    }

    /** The verdict, or {@code null} if it is no refusal. */
    static @Nullable Verdict read(Heard heard) {
        OpenRouterProblem problem = OpenRouterProblem.in(heard);
        return problem == null ? null : new OpenRouterErrors(heard, problem).verdict();
    }

    private Verdict verdict() {
        int status = problem.status();
        if (status == 402 || problem.isFrom("openrouter_key_limit")) {
            return money();
        }
        JsonNode availability = problem.error().path("availability");
        boolean noCapacity = is(Json.text(availability.path("code")), "capacity_exhausted");
        if (status == 429) {
            return noCapacity && !problem.isPlatforms() && !problem.isUpstreams()
                    ? noCapacity(availability)
                    : tooMany();
        }
        if (noCapacity) {
            return noCapacity(availability);
        }
        if (status == 503 || is(problem.errorType(), "provider_overloaded")) {
            return Verdict.retry(Kind.OVERLOAD, Pause.PROVIDER_MODEL, hinted(afterHeader()));
        }
        if (status >= 500 || status == 408 || is(problem.errorType(), "provider_unavailable")) {
            return Verdict.retry(Kind.SERVER, Pause.PROVIDER_MODEL, hinted(Wait.BACKOFF));
        }
        return Verdict.invalid();
    }

    private Verdict money() {
        String reason = problem.reason();
        if (is(reason, "in_flight_budget_exhausted") || problem.isFrom("openrouter_in_flight_budget")) {
            return Verdict.retry(Kind.CONCURRENCY, Pause.ACCOUNT, hinted(afterHeader()));
        }
        if (is(reason, "weight_exceeds_budget")) {
            return Verdict.stop(Kind.UNSATISFIABLE, Pause.REQUEST, Wait.NONE);
        }
        if (problem.isFrom("openrouter_key_limit")) {
            return Verdict.stop(
                    Kind.SPEND,
                    Pause.KEY,
                    new Wait(null, "GET /api/v1/key limit_reset (daily|weekly|monthly) or operator"));
        }
        return Verdict.stop(Kind.CREDITS, Pause.ACCOUNT, Wait.OPERATOR);
    }

    private Verdict tooMany() {
        String text = problem.message();
        if (problem.isFrom("openrouter_free_tier_daily") || Words.say(text, "free-models-per-day")) {
            return freeDay();
        }
        if (Words.say(text, "free-models-per-min")) {
            return Verdict.retry(Kind.REQUESTS, Pause.FREE_MODELS, hinted(resetOr(afterHeader())))
                    .fact("limit", limit());
        }
        if (problem.isFrom("openrouter_shared_capacity")) {
            return Verdict.retry(Kind.REQUESTS, Pause.ACCOUNT_MODEL, hinted(resetOr(afterHeader())))
                    .fact("limit", limit());
        }
        if (problem.isUpstreams()) {
            return Verdict.retry(Kind.OVERLOAD, Pause.PROVIDER_MODEL, hinted(afterHeader()));
        }
        if (heard.streamed()) {
            // The platform's own limits are checked before the 200: what says "too many" later is upstream.
            return Verdict.retry(Kind.OVERLOAD, Pause.PROVIDER_MODEL, hinted(Wait.BACKOFF))
                    .unsure(Verdict.UPSTREAM_OR_PLATFORM);
        }
        Wait reset = reset();
        if (!heard.hasBody() && reset != null) {
            return platforms(reset);
        }
        return Verdict.retry(Kind.REQUESTS, Pause.ACCOUNT_MODEL, hinted(resetOr(afterHeader())))
                .fact("limit", limit())
                .unsure(problem.isSkin() ? Verdict.UPSTREAM_OR_PLATFORM : Verdict.UNKNOWN_DIMENSION);
    }

    /** Without a body: only the platform's own refusals carry a reset; beyond a minute it is the day's. */
    private Verdict platforms(Wait reset) {
        Duration length = reset.length();
        boolean day = length != null && length.compareTo(Duration.ofMinutes(1)) > 0;
        return (day
                        ? Verdict.stop(Kind.DAILY, Pause.FREE_MODELS, reset)
                        : Verdict.retry(Kind.REQUESTS, Pause.FREE_MODELS, hinted(reset)))
                .fact("limit", limit());
    }

    /** A calendar day, UTC: its end beats any shorter hint. */
    private Verdict freeDay() {
        Wait reset = reset();
        Instant midnight = Moments.nextDay(heard.at(), ZoneOffset.UTC);
        Wait wait = new Wait(Moments.between(heard.at(), midnight), "midnight UTC");
        if (reset != null && reset.length() != null && !reset.length().isZero()) {
            wait = reset.source().equals(COPY)
                    ? new Wait(reset.length(), "X-RateLimit-Reset (epoch MILLISECONDS)")
                    : reset;
        }
        Duration length = wait.length();
        Verdict day = Verdict.stop(Kind.DAILY, Pause.FREE_MODELS, wait);
        return (length == null ? day : day.until(heard.at().plus(length), heard.at()))
                .fact("sub", "requests")
                .fact("limit", limit());
    }

    private Verdict noCapacity(JsonNode availability) {
        Duration after = Spans.seconds(Json.text(availability.path("retry_after")));
        Wait wait =
                after == null ? hinted(afterHeader()) : hinted(new Wait(after, "error.availability.retry_after (s)"));
        boolean stop = availability.path("retryable").isBoolean()
                && !availability.path("retryable").booleanValue();
        return stop
                ? Verdict.stop(Kind.OVERLOAD, Pause.PROVIDER_MODEL, wait)
                : Verdict.retry(Kind.OVERLOAD, Pause.PROVIDER_MODEL, wait);
    }

    /** Headers, then the delay in the body, then what the rule says. */
    private Wait hinted(Wait otherwise) {
        Wait stated = heard.streamed() ? null : Wait.stated(heard.headers(), heard.at());
        if (stated != null) {
            return stated;
        }
        Duration seconds = Spans.seconds(Json.text(problem.metadata().path("retry_after_seconds")));
        if (seconds != null) {
            return new Wait(seconds, "metadata.retry_after_seconds");
        }
        Duration copied = Spans.seconds(problem.copied("retry-after"));
        return copied == null ? otherwise : new Wait(copied, "metadata.headers.Retry-After");
    }

    private Wait resetOr(Wait otherwise) {
        return Wait.orElse(reset(), () -> otherwise);
    }

    /** The header, or its copy in the body: epoch milliseconds. */
    private @Nullable Wait reset() {
        Long header = heard.streamed() ? null : heard.headers().least("x-ratelimit-reset");
        Instant at = Moments.epoch(header);
        String source = "X-RateLimit-Reset";
        if (at == null) {
            at = Moments.epoch(Json.whole(problem.copied("x-ratelimit-reset")));
            source = COPY;
        }
        return at == null ? null : new Wait(Moments.between(heard.at(), at), source);
    }

    private @Nullable Long limit() {
        Long header = heard.streamed() ? null : heard.headers().least("x-ratelimit-limit");
        return header == null ? Json.whole(problem.copied("x-ratelimit-limit")) : header;
    }

    private Wait afterHeader() {
        return heard.headers().known() || heard.streamed() ? Wait.BACKOFF : Wait.RETRY_AFTER_OR_BACKOFF;
    }
}
