package io.sluice.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class OpenRouterRefusalsTest {
    private static final String MIDNIGHT = "1787616000000";

    static Stream<Arguments> rows() {
        return Stream.of(
                // Money: not all of it is final.
                row(
                        "in flight, by reason",
                        402,
                        "retry-after: 3",
                        error(402, "x", "\"reason\":\"in_flight_budget_exhausted\""),
                        "concurrency retry 3000 project"),
                row(
                        "in flight, by source",
                        402,
                        "",
                        error(402, "x", source("openrouter_in_flight_budget")),
                        "concurrency retry - project"),
                row(
                        "too heavy",
                        402,
                        "",
                        error(402, "x", "\"reason\":\"weight_exceeds_budget\"," + source("openrouter_credits")),
                        "unsatisfiable stop - request"),
                row("key's cap", 402, "", error(402, "x", source("openrouter_key_limit")), "spend stop - project"),
                row("credits", 402, "", error(402, "x", source("openrouter_credits")), "credits stop - project"),
                row("any other 402", 402, "", "", "credits stop - project"),
                // Free models: one bucket, its day ends at midnight UTC.
                row(
                        "free day, its own end",
                        429,
                        "x-ratelimit-reset: 1787612400000",
                        error(429, "free-models-per-day", ""),
                        "daily stop 39600000 class"),
                row(
                        "free day, header",
                        429,
                        "X-RateLimit-Reset: " + MIDNIGHT,
                        error(429, "free-models-per-day", ""),
                        "daily stop 43200000 class"),
                row(
                        "free day, copy in any case",
                        429,
                        "",
                        error(
                                429,
                                "x",
                                source("openrouter_free_tier_daily") + ",\"headers\":{\"x-ratelimit-RESET\":\""
                                        + MIDNIGHT + "\"}"),
                        "daily stop 43200000 class"),
                row(
                        "free day, copy a number",
                        429,
                        "",
                        error(429, "free-models-per-day", "\"headers\":{\"X-RateLimit-Reset\":" + MIDNIGHT + "}"),
                        "daily stop 43200000 class"),
                row(
                        "free day, nothing said",
                        429,
                        "",
                        error(429, "free-models-per-day", ""),
                        "daily stop 43200000 class"),
                row(
                        "free day, a shorter hint is no end of it",
                        429,
                        "retry-after: 5",
                        error(429, "free-models-per-day", "\"retry_after_seconds\":4"),
                        "daily stop 43200000 class"),
                row(
                        "free day, junk reset",
                        429,
                        "x-ratelimit-reset: soon",
                        error(429, "free-models-per-day", ""),
                        "daily stop 43200000 class"),
                row(
                        "free minute",
                        429,
                        "",
                        error(
                                429,
                                "free-models-per-min",
                                "\"headers\":{\"X-RateLimit-Reset\":\"1787572835000\"},\"provider_name\":null"),
                        "requests retry 35000 class"),
                row(
                        "free minute, reset in seconds",
                        429,
                        "x-ratelimit-reset: 1787572835",
                        error(429, "free-models-per-min", ""),
                        "requests retry 35000 class"),
                row(
                        "shared capacity",
                        429,
                        "retry-after: 3",
                        error(429, "x", source("openrouter_shared_capacity")),
                        "requests retry 3000 class"),
                row(
                        "shared capacity before provider",
                        429,
                        "",
                        error(429, "x", source("openrouter_shared_capacity") + ",\"provider_name\":\"P\""),
                        "requests retry - class"),
                // Upstream: no budget of ours.
                row(
                        "upstream by name",
                        429,
                        "",
                        error(429, "x", "\"provider_name\":\"P\",\"retry_after_seconds\":4"),
                        "overload retry 4000 class"),
                row(
                        "upstream by source",
                        429,
                        "retry-after: 2",
                        error(429, "x", source("upstream_provider_shared_pool")),
                        "overload retry 2000 class"),
                row(
                        "upstream by words",
                        429,
                        "",
                        error(429, "m is temporarily rate-limited upstream", ""),
                        "overload retry - class"),
                row(
                        "no capacity",
                        429,
                        "",
                        "{\"error\":{\"message\":\"x\",\"http_status\":429,\"availability\":{\"code\":\"capacity_exhausted\",\"retryable\":true,\"retry_after\":40}}}",
                        "overload retry 40000 class"),
                row(
                        "no capacity, final",
                        429,
                        "",
                        "{\"error\":{\"availability\":{\"code\":\"capacity_exhausted\",\"retryable\":false}}}",
                        "overload stop - class"),
                // Any other.
                row("any other", 429, "", error(429, "x", ""), "requests retry - class"),
                row("any other, stated", 429, "retry-after: 6", "", "requests retry 6000 class"),
                row("junk", 429, "retry-after: soon|retry-after-ms: NaN", "", "requests retry - class"),
                row(
                        "headers alone, half a minute",
                        429,
                        "x-ratelimit-limit: 20|x-ratelimit-reset: 1787572835000",
                        "",
                        "requests retry 35000 class"),
                row(
                        "headers alone, half a day",
                        429,
                        "x-ratelimit-limit: 50|x-ratelimit-reset: " + MIDNIGHT,
                        "",
                        "daily stop 43200000 class"),
                // Trouble.
                row("503", 503, "", error(503, "x", ""), "overload retry - class"),
                row("503, stated", 503, "retry-after: 9", "", "overload retry 9000 class"),
                row("502", 502, "", error(502, "x", "\"error_type\":\"provider_unavailable\""), "server retry - class"),
                row(
                        "502 with overload inside",
                        502,
                        "",
                        error(502, "x", "\"error_type\":\"provider_overloaded\""),
                        "overload retry - class"),
                row("408", 408, "", "", "server retry - class"),
                row("524 of the edge", 524, "", "<html>", "server retry - class"),
                row("500", 500, "", "", "server retry - class"),
                row(
                        "validation",
                        400,
                        "",
                        "{\"success\":false,\"error\":{\"name\":\"ZodError\",\"message\":\"[]\"}}",
                        "invalid stop - request"),
                row("moderation", 403, "", error(403, "x", "\"provider_name\":\"P\""), "invalid stop - request"),
                // A 200 is not success: by the inner code.
                row("200 with a 502 in it", 200, "", error(502, "x", ""), "server retry - class"),
                row("200 with a 402 in it", 200, "", error(402, "x", ""), "credits stop - project"),
                row(
                        "200 with a word in it",
                        200,
                        "",
                        "{\"error\":{\"code\":\"server_error\",\"message\":\"x\"}}",
                        "server retry - class"),
                row(
                        "200 with an upstream 429",
                        200,
                        "",
                        error(429, "x", "\"provider_name\":\"P\""),
                        "overload retry - class"),
                row(
                        "200 with a choice that failed",
                        200,
                        "",
                        "{\"choices\":[{\"finish_reason\":\"error\",\"error\":{\"code\":503,\"message\":\"x\"}}]}",
                        "overload retry - class"),
                row(
                        "200 with a choice that failed without a word",
                        200,
                        "",
                        "{\"choices\":[{\"finish_reason\":\"error\"}]}",
                        "server retry - class"),
                row("fine", 200, "", "{\"choices\":[{\"finish_reason\":\"stop\"}]}", "fine"),
                // The other skins.
                row(
                        "Anthropic's shape",
                        429,
                        "retry-after: 4",
                        "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"error_type\":\"rate_limit_exceeded\"}}",
                        "requests retry 4000 class"),
                row(
                        "Anthropic's shape, money",
                        402,
                        "",
                        "{\"type\":\"error\",\"error\":{\"type\":\"billing_error\",\"error_type\":\"payment_required\"}}",
                        "credits stop - project"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rows")
    void theFirstRuleThatMatchesDecides(String what, int status, String headers, String body, String expected) {
        assertThat(Told.verdict(OpenRouter.PROFILE, status, headers, body)).isEqualTo(expected);
    }

    static Stream<Arguments> events() {
        return Stream.of(
                arguments(
                        "{\"error\":{\"code\":429,\"message\":\"x\",\"metadata\":{\"error_type\":\"rate_limit_exceeded\"}},\"choices\":[{\"finish_reason\":\"error\"}]}",
                        "overload retry - class"),
                arguments(
                        "{\"error\":{\"code\":\"server_error\",\"message\":\"x\"},\"choices\":[]}",
                        "server retry - class"),
                arguments(
                        "{\"error\":{\"code\":502,\"metadata\":{\"error_type\":\"provider_unavailable\"}}}",
                        "server retry - class"),
                arguments(
                        "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"x\"},\"error_type\":\"provider_overloaded\"}}",
                        "overload retry - class"),
                arguments(
                        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"error_type\":\"provider_overloaded\"}}",
                        "overload retry - class"),
                arguments("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}", "overload retry - class"));
    }

    @ParameterizedTest
    @MethodSource("events")
    void refusalsInsideAStreamAreRefusals(String event, String expected) {
        assertThat(Told.verdict(Told.stream(OpenRouter.PROFILE, ": OPENROUTER PROCESSING\n\ndata: " + event + "\n\n")))
                .isEqualTo(expected);
    }

    private static Arguments row(String what, int status, String headers, String body, String expected) {
        return arguments(what, status, headers, body, expected);
    }

    private static String source(String source) {
        return "\"limit_source\":\"" + source + "\"";
    }

    private static String error(int code, String message, String metadata) {
        return "{\"error\":{\"code\":" + code + ",\"message\":\"" + message + "\",\"metadata\":{" + metadata
                + "}},\"user_id\":\"user_1\"}";
    }
}
