package io.sluice.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sluice.Reading;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class OpenAiRefusalsTest {
    private static final String LIMITED = "rate_limit_exceeded";
    private static final String ON = "Rate limit reached for gpt-x in organization org-1 on ";

    static Stream<Arguments> rows() {
        return Stream.of(
                // Code before type; any status.
                row(
                        "no credits",
                        429,
                        "",
                        error("insufficient_quota", "credit_balance_exhausted", "x"),
                        "credits stop - project"),
                row(
                        "quota (langchain-ai/langchainjs#1929)",
                        429,
                        "retry-after: 5",
                        error("insufficient_quota", "insufficient_quota", "x"),
                        "credits stop - project"),
                row("billing off", 403, "", error("x", "billing_not_active", "x"), "credits stop - project"),
                row("type alone", 429, "", error("insufficient_quota", null, "x"), "credits stop - project"),
                row(
                        "organisation's spend",
                        429,
                        "",
                        error("insufficient_quota", "organization_spend_limit_exceeded", "x"),
                        "spend stop - project"),
                row(
                        "organisation's usage",
                        429,
                        "",
                        error("insufficient_quota", "organization_usage_limit_exceeded", "x"),
                        "spend stop - project"),
                row(
                        "hard limit, 400",
                        400,
                        "",
                        error("invalid_request_error", "billing_hard_limit_reached", "x"),
                        "spend stop - project"),
                row(
                        "hard limit, 429",
                        429,
                        "",
                        error("insufficient_quota", "billing_hard_limit_reached", "x"),
                        "spend stop - project"),
                row(
                        "project's spend",
                        429,
                        "",
                        error("insufficient_quota", "project_spend_limit_exceeded", "x"),
                        "spend stop - project"),
                row("payment required", 402, "", "", "credits stop - project"),
                // ChatGPT plans.
                row(
                        "plan, epoch seconds",
                        429,
                        "",
                        "{\"error\":{\"type\":\"usage_limit_reached\",\"resets_at\":1787578200}}",
                        "plan_window stop 5400000 project"),
                row(
                        "plan, seconds from now",
                        429,
                        "",
                        "{\"error\":{\"type\":\"usage_limit_reached\",\"resets_in_seconds\":5400}}",
                        "plan_window stop 5400000 project"),
                row(
                        "plan, nothing said",
                        429,
                        "",
                        "{\"error\":{\"type\":\"usage_limit_reached\",\"resets_at\":null}}",
                        "plan_window stop - project"),
                // Never fits.
                row(
                        "too large by text",
                        429,
                        "retry-after: 5",
                        error(
                                "tokens",
                                LIMITED,
                                "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 76503."),
                        "unsatisfiable stop - request"),
                row(
                        "too large by figures",
                        429,
                        "",
                        error(
                                "tokens",
                                LIMITED,
                                ON
                                        + "tokens per min (TPM): Limit 30,000, Used 0, Requested 30,001. Please try again in 20s."),
                        "unsatisfiable stop - request"),
                row(
                        "just fits",
                        429,
                        "",
                        error(
                                "tokens",
                                LIMITED,
                                ON
                                        + "tokens per min (TPM): Limit 30000, Used 1, Requested 30000. Please try again in 2ms."),
                        "tokens retry 2 class"),
                // Flex.
                row("flex by code", 429, "", error("x", "resource_unavailable", "x"), "overload retry - class"),
                row("flex by text", 429, "", error("x", null, "429 Resource Unavailable"), "overload retry - class"),
                // Days refill: the stated wait stands. The same type as for minutes.
                row(
                        "requests of a day",
                        429,
                        "",
                        error(
                                "requests",
                                LIMITED,
                                ON
                                        + "requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s."),
                        "daily retry 432000 class"),
                row(
                        "tokens of a day",
                        429,
                        "",
                        error(
                                "tokens",
                                LIMITED,
                                ON
                                        + "tokens per day (TPD): Limit 1000000, Used 1000000, Requested 1. Please try again in 1m30.951s."),
                        "daily retry 90951 class"),
                row(
                        "a day, text before retry-after",
                        429,
                        "retry-after: 5",
                        error(
                                "requests",
                                LIMITED,
                                ON + "requests per day (RPD): Limit 200. Please try again in 7m12s."),
                        "daily retry 432000 class"),
                row(
                        "a day, retry-after",
                        429,
                        "retry-after: 5",
                        error("requests", LIMITED, ON + "requests per day (RPD)"),
                        "daily retry 5000 class"),
                row(
                        "a day, the longer of text and header",
                        429,
                        "x-ratelimit-remaining-requests: 0|x-ratelimit-reset-requests: 8m0s",
                        error("requests", LIMITED, ON + "requests per day (RPD). Please try again in 7m12s."),
                        "daily retry 480000 class"),
                // Minutes: milliseconds, seconds, text, header.
                row(
                        "milliseconds first",
                        429,
                        "retry-after-ms: 374|retry-after: 1",
                        error("tokens", LIMITED, ON + "tokens per min (TPM): Limit 9. Please try again in 6ms."),
                        "tokens retry 374 class"),
                row(
                        "then seconds",
                        429,
                        "retry-after: 20|x-ratelimit-remaining-requests: 0|x-ratelimit-reset-requests: 59.8s",
                        error("requests", LIMITED, ON + "requests per min (RPM). Please try again in 6ms."),
                        "requests retry 20000 class"),
                row(
                        "then text",
                        429,
                        "x-ratelimit-remaining-requests: 0|x-ratelimit-reset-requests: 59.8s",
                        error("requests", LIMITED, ON + "requests per min (RPM). Please try again in 6ms."),
                        "requests retry 6 class"),
                row(
                        "then header",
                        429,
                        "x-ratelimit-remaining-requests: 0|x-ratelimit-reset-requests: 59.8s",
                        error("requests", LIMITED, ON + "requests per min (RPM)."),
                        "requests retry 59800 class"),
                row(
                        "then nothing",
                        429,
                        "x-ratelimit-reset-requests: soon",
                        error("requests", LIMITED, ON + "requests per min (RPM)."),
                        "requests retry - class"),
                row("type alone, requests", 429, "", error("requests", LIMITED, "x"), "requests retry - class"),
                row("type alone, tokens", 429, "", error("tokens", LIMITED, "x"), "tokens retry - class"),
                row(
                        "images",
                        429,
                        "",
                        error(
                                "x",
                                LIMITED,
                                ON + "images per minute: Limit 5, Used 5, Requested 1. Please try again in 12s."),
                        "images retry 12000 class"),
                // Which of the two resets counts is what is used up (BaseIntelligence/bounty-challenge#5370).
                row(
                        "tokens are what ran out",
                        429,
                        "x-ratelimit-remaining-requests: 40|x-ratelimit-reset-requests: 17ms|x-ratelimit-remaining-tokens: 0|x-ratelimit-reset-tokens: 6m0s",
                        "",
                        "tokens retry 360000 class"),
                row(
                        "both are: the longer",
                        429,
                        "x-ratelimit-remaining-requests: 0|x-ratelimit-reset-requests: 17s|x-ratelimit-remaining-tokens: 0|x-ratelimit-reset-tokens: 3s",
                        "",
                        "requests retry 17000 class"),
                row(
                        "the project's tokens",
                        429,
                        "x-ratelimit-remaining-tokens: 9|x-ratelimit-remaining-project-tokens: 0|x-ratelimit-reset-project-tokens: 4s",
                        "",
                        "tokens retry 4000 class"),
                row(
                        "-1 is unknown, not nothing",
                        429,
                        "x-ratelimit-remaining-tokens: -1|x-ratelimit-reset-tokens: 3s",
                        "",
                        "tokens retry 3000 class"),
                // Any other.
                row("any other", 429, "", error("x", null, "Too many"), "requests retry - class"),
                row("any other, stated", 429, "retry-after: 3", "<html>429</html>", "requests retry 3000 class"),
                row("any other, not to be retried", 429, "x-should-retry: false", "", "requests stop - class"),
                row(
                        "words without JSON",
                        429,
                        "",
                        ON + "requests per min (RPM): Limit 3. Please try again in 20s.",
                        "requests retry 20000 class"),
                row(
                        "Azure's words",
                        429,
                        "",
                        error("x", "429", "Please retry after 26 seconds."),
                        "requests retry 26000 class"),
                // The provider's own trouble.
                row("slow down", 503, "", error("x", "slow_down", "x"), "overload retry - class"),
                row("overloaded", 503, "", error("x", "server_is_overloaded", "x"), "overload retry - class"),
                row(
                        "overloaded, stated",
                        503,
                        "retry-after: 8",
                        error("service_unavailable_error", null, "x"),
                        "overload retry 8000 class"),
                row("503 of a proxy", 503, "", "<html>", "server retry - request"),
                row("500", 500, "", "", "server retry - request"),
                row("409", 409, "", "", "server retry - request"),
                row("408", 408, "", "", "server retry - request"),
                // The batch queue.
                row(
                        "batch queue full",
                        200,
                        "",
                        "{\"object\":\"batch\",\"errors\":{\"data\":[{\"code\":\"token_limit_exceeded\",\"message\":\"Enqueued token limit reached. Limit: 900,000 enqueued tokens.\"}]}}",
                        "tokens retry - class"),
                row(
                        "batch queue full at once",
                        400,
                        "",
                        error("x", "token_limit_exceeded", "Enqueued token limit reached"),
                        "tokens retry - class"),
                row("a good batch", 200, "", "{\"object\":\"batch\",\"errors\":null}", "fine"),
                // Our own fault.
                row(
                        "400",
                        400,
                        "",
                        error("invalid_request_error", "context_length_exceeded", "x"),
                        "invalid stop - request"),
                row("401", 401, "", "", "invalid stop - request"),
                row("error null is none", 200, "", "{\"error\":null}", "fine"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rows")
    void theFirstRuleThatMatchesDecides(String what, int status, String headers, String body, String expected) {
        assertThat(Told.verdict(OpenAi.PROFILE, status, headers, body)).isEqualTo(expected);
    }

    static Stream<Arguments> events() {
        return Stream.of(
                arguments("{\"type\":\"error\",\"code\":\"server_error\",\"message\":\"x\"}", "server retry - request"),
                arguments(
                        "{\"type\":\"error\",\"error\":{\"code\":\"server_error\",\"message\":\"x\"}}",
                        "server retry - request"),
                arguments(
                        "{\"type\":\"response.failed\",\"response\":{\"usage\":null,\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"on tokens per min (TPM): Limit 9, Used 9, Requested 1. Please try again in 11.054s.\"}}}",
                        "tokens retry 11054 class"),
                arguments(
                        "{\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"on requests per day (RPD): Limit 200. Please try again in 7m12s.\"}",
                        "daily retry 432000 class"),
                arguments(
                        "{\"error\":{\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\",\"message\":\"x\"}}",
                        "tokens retry - class"),
                arguments(
                        "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"x\"}}}",
                        "credits stop - project"),
                arguments(
                        "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"context_length_exceeded\"}}}",
                        "invalid stop - request"),
                arguments(
                        "{\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_is_overloaded\"}}}",
                        "overload retry - class"),
                arguments("{\"type\":\"response.failed\",\"response\":{\"error\":null}}", "server retry - request"));
    }

    @ParameterizedTest
    @MethodSource("events")
    void refusalsInsideAStreamAreRefusals(String event, String expected) {
        assertThat(Told.verdict(Told.stream(OpenAi.PROFILE, "data: " + event + "\n\n")))
                .isEqualTo(expected);
    }

    @Test
    void aProjectsLimitPausesTheProjectsPool() {
        Reading reading = OpenAi.PROFILE.read(Told.answer(
                429,
                "",
                error("tokens", LIMITED, "Rate limit reached for gpt-x (in project proj_1) on tokens per min (TPM)")));

        assertThat(Told.fact(reading, "pause_scope")).isEqualTo("project+model");
    }

    /** What "Requested" says is what the provider charges up front. */
    @Test
    void theTextTellsLimitUsedAndRequested() {
        Reading reading = OpenAi.PROFILE.read(Told.answer(
                429,
                "",
                error(
                        "tokens",
                        LIMITED,
                        "Rate limit reached for limit 4o-mini in organization org-1 on tokens per min (TPM): Limit 30,000,"
                                + " Used 15,532, Requested 14,655.")));

        assertThat(reading.explanation())
                .containsEntry("limit", 30_000L)
                .containsEntry("used", 15_532L)
                .containsEntry("requested", 14_655L);
    }

    private static Arguments row(String what, int status, String headers, String body, String expected) {
        return arguments(what, status, headers, body, expected);
    }

    private static String error(String type, String code, String message) {
        String quoted = code == null ? "null" : "\"" + code + "\"";
        return "{\"error\":{\"message\":\"" + message + "\",\"type\":\"" + type + "\",\"param\":null,\"code\":" + quoted
                + "}}";
    }
}
