package io.sluice.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sluice.Answer;
import io.sluice.Reading;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class AnthropicRefusalsTest {
    private static final String RATE = "rate_limit_error";

    static Stream<Arguments> rows() {
        String ends = "You will regain access on 2026-09-01 at 00:00 UTC.";
        return Stream.of(
                // Money first.
                row("enforced spend limit, dated", 429, "", spent("x. " + ends), "spend stop 648000000 project"),
                row("enforced spend limit, undated: next month", 429, "", spent("x"), "spend stop 648000000 project"),
                row(
                        "enforced spend limit, date past: next month",
                        429,
                        "",
                        spent("on 2026-08-01"),
                        "spend stop 648000000 project"),
                row(
                        "billing error of a gateway",
                        429,
                        "retry-after: 43200",
                        error("billing_error", "no"),
                        "spend stop 43200000 caller"),
                row(
                        "spend limit text, not to be retried",
                        429,
                        "x-should-retry: false|retry-after: 60",
                        error(RATE, "Spend limit reached"),
                        "spend stop 60000 caller"),
                row(
                        "spend limit text alone is a rate",
                        429,
                        "retry-after: 60",
                        error(RATE, "spend limit reached"),
                        "requests retry 60000 class"),
                row(
                        "own limit of the organisation",
                        400,
                        "",
                        error("invalid_request_error", "You have reached your specified API usage limits. " + ends),
                        "spend stop 648000000 project"),
                row(
                        "own limit of a workspace",
                        400,
                        "",
                        error(
                                "invalid_request_error",
                                "You have reached your specified workspace API usage limits. " + ends),
                        "spend stop 648000000 project"),
                row(
                        "own limit, undated",
                        400,
                        "",
                        error("invalid_request_error", "reached your specified API usage limits"),
                        "spend stop - project"),
                row(
                        "balance",
                        400,
                        "",
                        error("invalid_request_error", "Your credit balance is too low to access"),
                        "credits stop - project"),
                row("payment", 402, "", error("billing_error", "x"), "credits stop - project"),
                row("payment, proxy's words", 402, "", "<html>402</html>", "credits stop - project"),
                // Plans and pools.
                row(
                        "plan, retry-after",
                        429,
                        "retry-after: 2094|anthropic-ratelimit-unified-status: rejected",
                        "",
                        "plan_window stop 2094000 project"),
                row(
                        "plan, epoch seconds",
                        429,
                        "Anthropic-Ratelimit-Unified-Status: rejected|anthropic-ratelimit-unified-reset: 1787574894",
                        "",
                        "plan_window stop 2094000 project"),
                row(
                        "plan, only its window's end",
                        429,
                        "anthropic-ratelimit-unified-status: rejected|anthropic-ratelimit-unified-representative-claim: seven_day_oi|anthropic-ratelimit-unified-7d_oi-utilization: 1|anthropic-ratelimit-unified-7d_oi-reset: 1787574894",
                        "",
                        "plan_window stop 2094000 project"),
                row(
                        "plan allowed: an ordinary refusal",
                        429,
                        "retry-after: 3|anthropic-ratelimit-unified-status: allowed_warning",
                        "",
                        "requests retry 3000 class"),
                row(
                        "fast pool closed",
                        429,
                        "anthropic-fast-input-tokens-limit: 0",
                        "",
                        "not_provisioned stop - class"),
                row(
                        "fast pool 0 with a wait is used up, not closed",
                        429,
                        "retry-after: 5|anthropic-fast-input-tokens-limit: 0|anthropic-fast-input-tokens-remaining: 0",
                        "",
                        "input retry 5000 class"),
                row(
                        "fast pool used up",
                        429,
                        "retry-after: 5|anthropic-fast-output-tokens-limit: 9000|anthropic-fast-output-tokens-remaining: 0",
                        error(RATE, "x"),
                        "output retry 5000 class"),
                // Acceleration before the input text that is in it; two forms.
                row(
                        "acceleration with numbers",
                        429,
                        "",
                        error(
                                RATE,
                                "maximum usage increase rate for input tokens per minute. Your current limit is 58,000 input tokens per minute, and will increase to 68,000 at the next minute boundary"),
                        "acceleration retry 60000 class"),
                row(
                        "acceleration without",
                        429,
                        "retry-after: 9",
                        error(RATE, "This request would exceed the acceleration limit."),
                        "acceleration retry 9000 class"),
                row(
                        "concurrency",
                        429,
                        "",
                        error(RATE, "Number of concurrent connections has exceeded your rate limit"),
                        "concurrency retry - project"),
                row(
                        "concurrency, stated",
                        429,
                        "retry-after: 2",
                        error(RATE, "Number of concurrent connections has exceeded"),
                        "concurrency retry 2000 project"),
                // Dimensions, by text; the text beats rounded headers.
                row(
                        "input",
                        429,
                        "retry-after: 12",
                        error(RATE, "rate limit of 30,000 input tokens per minute"),
                        "input retry 12000 class"),
                row(
                        "output",
                        429,
                        "retry-after: 12|anthropic-ratelimit-input-tokens-remaining: 0",
                        error(RATE, "rate limit of 8,000 output tokens per minute"),
                        "output retry 12000 class"),
                row(
                        "requests",
                        429,
                        "retry-after: 2",
                        error(RATE, "rate limit of 50 requests per minute"),
                        "requests retry 2000 class"),
                row(
                        "both together",
                        429,
                        "retry-after: 2",
                        error(RATE, "rate limit of 40,000 tokens per minute"),
                        "tokens retry 2000 class"),
                // By headers.
                row(
                        "input header",
                        429,
                        "retry-after: 12|anthropic-ratelimit-input-tokens-remaining: 0",
                        "",
                        "input retry 12000 class"),
                row(
                        "output header",
                        429,
                        "retry-after: 12|anthropic-ratelimit-output-tokens-remaining: 0",
                        "",
                        "output retry 12000 class"),
                row(
                        "without retry-after: when it is full again",
                        429,
                        "anthropic-ratelimit-output-tokens-remaining: 0|anthropic-ratelimit-output-tokens-reset: 2026-08-24T12:00:48Z",
                        "",
                        "output retry 48000 class"),
                row(
                        "full since before the date",
                        429,
                        "anthropic-ratelimit-requests-remaining: 0|anthropic-ratelimit-requests-reset: 2026-08-24T11:59:48Z",
                        "",
                        "requests retry 0 class"),
                row(
                        "junk retry-after is none",
                        429,
                        "retry-after: soon",
                        error(RATE, "9 requests per minute"),
                        "requests retry - class"),
                // Any other.
                row("any other", 429, "", error(RATE, "Number of requests is high"), "requests retry - class"),
                row(
                        "any other, not to be retried",
                        429,
                        "x-should-retry: false",
                        error(RATE, "no"),
                        "requests stop - class"),
                row(
                        "input, not to be retried",
                        429,
                        "x-should-retry: FALSE|retry-after: 3",
                        error(RATE, "5 input tokens per minute"),
                        "input stop 3000 class"),
                row(
                        "a proxy's page",
                        429,
                        "retry-after: 7",
                        "<html><body>429 Too Many Requests: concurrent connections</body></html>",
                        "requests retry 7000 class"),
                row("nothing", 429, "", "", "requests retry - class"),
                row("not an object", 429, "", "[1,2]", "requests retry - class"),
                row(
                        "broken off",
                        429,
                        "",
                        "{\"type\":\"error\",\"error\":{\"type\":\"rate_li",
                        "requests retry - class"),
                row("error is a text", 429, "", "{\"error\":\"slow down\"}", "requests retry - class"),
                // The provider's own trouble.
                row("529", 529, "", error("overloaded_error", "x"), "overload retry - class"),
                row("529, stated", 529, "retry-after: 10", "", "overload retry 10000 class"),
                row("overloaded in a 503", 503, "", error("overloaded_error", "x"), "overload retry - class"),
                row("500", 500, "", error("api_error", "x"), "server retry - request"),
                row("502 of a proxy", 502, "", "<html>", "server retry - request"),
                row("503", 503, "retry-after: 4", "", "server retry 4000 request"),
                row("504", 504, "", error("timeout_error", "x"), "server retry - request"),
                row("408", 408, "", "", "server retry - request"),
                row("500, not to be retried", 500, "x-should-retry: false", "", "server stop - request"),
                // Our own fault.
                row("400", 400, "", error("invalid_request_error", "max_tokens: required"), "invalid stop - request"),
                row("401", 401, "", error("authentication_error", "x"), "invalid stop - request"),
                row("403", 403, "", error("permission_error", "x"), "invalid stop - request"),
                row("404", 404, "", error("not_found_error", "model: x"), "invalid stop - request"),
                row("413", 413, "", "", "invalid stop - request"),
                row("fine", 200, "", "{\"type\":\"message\"}", "fine"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rows")
    void theFirstRuleThatMatchesDecides(String what, int status, String headers, String body, String expected) {
        assertThat(Told.verdict(Anthropic.PROFILE, status, headers, body)).isEqualTo(expected);
    }

    /** The request was sent fast: only the fast pool is closed, never the normal one. */
    @Test
    void aFastRequestsRefusalIsOfTheFastPool() {
        Answer answer = Told.answer(429, "retry-after: 5", error(RATE, "rate limit of 30,000 input tokens per minute"));

        assertThat(Anthropic.PROFILE.read(answer.speed("fast")).explanation())
                .containsEntry("pause_scope", "org+fast-pool")
                .containsEntry("kind", "input");
        assertThat(Anthropic.PROFILE.read(answer).explanation()).containsEntry("pause_scope", "org+model");
    }

    @Test
    void theTextMayNameTheFastPool() {
        Reading reading = Anthropic.PROFILE.read(
                Told.answer(429, "", error(RATE, "rate limit of 9 output tokens per minute in fast mode")));

        assertThat(reading.explanation()).containsEntry("pool", "fast").containsEntry("kind", "output");
    }

    @Test
    void aWorkspacesLimitPausesTheWorkspace() {
        Reading reading = Anthropic.PROFILE.read(
                Told.answer(429, "", error(RATE, "your workspace's rate limit of 1,000 input tokens per minute")));

        assertThat(Told.fact(reading, "pause_scope")).isEqualTo("workspace+model");
    }

    @Test
    void accelerationTellsTheLimitNowAndNext() {
        Reading reading = Anthropic.PROFILE.read(Told.answer(
                429,
                "",
                error(
                        RATE,
                        "over the maximum usage increase rate for input tokens per minute. Your current limit is"
                                + " 58,000 input tokens per minute, and will increase to 68,000 at the next minute")));

        assertThat(reading.explanation())
                .containsEntry("ramp_limit", 58_000L)
                .containsEntry("ramp_next", 68_000L)
                .containsEntry("unit", "input tokens per minute");
    }

    /** 200 is not success: overload and limits arrive as events (Wei-Shaw/sub2api#5563, QwenLM/qwen-code#11216). */
    @Test
    void refusalsInsideAStreamAreRefusals() {
        String start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":"
                + "{\"input_tokens\":900,\"output_tokens\":2}}}\n\n";
        String delta =
                "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"abcdefghijkl\"}}\n\n";

        Reading atOnce =
                Told.stream(Anthropic.PROFILE, "event: error\ndata: " + error("overloaded_error", "x") + "\n\n");
        Reading later = Told.stream(
                Anthropic.PROFILE, start + delta + delta + "event: error\ndata: " + error(RATE, "x") + "\n\n");
        Reading server = Told.stream(Anthropic.PROFILE, start + "data: " + error("api_error", "x") + "\n\n");

        assertThat(Told.verdict(atOnce)).isEqualTo("overload retry - class");
        assertThat(Told.usage(atOnce)).isEqualTo("? ? ? ? open");
        assertThat(Told.verdict(later)).isEqualTo("requests retry - class");
        assertThat(Told.usage(later)).isEqualTo("900 0 0 6 open");
        assertThat(Told.verdict(server)).isEqualTo("server retry - request");
    }

    /** What was said before the stream was of another moment: its Retry-After is not the error's. */
    @Test
    void headersOfTheStreamAreNotOfTheErrorInIt() {
        var stream = Anthropic.PROFILE.stream(Told.answer(200, "retry-after: 99|x-should-retry: false", ""));
        stream.feed(
                ("data: " + error("overloaded_error", "x") + "\n\n").getBytes(java.nio.charset.StandardCharsets.UTF_8));

        assertThat(Told.verdict(stream.end())).isEqualTo("overload retry - class");
    }

    private static Arguments row(String what, int status, String headers, String body, String expected) {
        return arguments(what, status, headers, body, expected);
    }

    private static String error(String type, String message) {
        return "{\"type\":\"error\",\"error\":{\"type\":\"" + type + "\",\"message\":\"" + message
                + "\"},\"request_id\":\"req_1\"}";
    }

    private static String spent(String message) {
        return "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"" + message
                + "\",\"details\":{\"error_code\":\"enforced_spend_limit_reached\"}}}";
    }
}
