package io.sluice.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sluice.Reading;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class GeminiRefusalsTest {
    private static final String ALARM = "You exceeded your current quota, please check your plan and billing details.";
    private static final String MINUTE = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier";
    private static final String DAY = "GenerateRequestsPerDayPerProjectPerModel-FreeTier";
    private static final String INPUT = "GenerateContentInputTokensPerModelPerMinute-FreeTier";

    static Stream<Arguments> rows() {
        return Stream.of(
                // Money, by its words.
                row("prepaid", 429, exhausted("Your prepayment credits are depleted."), "credits stop - project"),
                row(
                        "monthly cap",
                        429,
                        exhausted("Your project has exceeded its monthly spending cap."),
                        "spend stop - project"),
                row(
                        "ten minutes: probe after one",
                        429,
                        exhausted("spend-based rate limit"),
                        "spend retry 60000 project"),
                row(
                        "ten minutes, by the rate's name",
                        429,
                        exhausted("your spending rate is high"),
                        "spend retry 60000 project"),
                row(
                        "ten minutes, told",
                        429,
                        exhausted("spend-based rate limit", retry("90s")),
                        "spend retry 90000 project"),
                // Code Assist.
                row(
                        "plan",
                        429,
                        exhausted(
                                "x", info("QUOTA_EXHAUSTED", "cloudcode-pa.googleapis.com"), retry("51820.638305887s")),
                        "plan_window stop 51820639 class"),
                row(
                        "plan's credits",
                        429,
                        exhausted("x", info("INSUFFICIENT_G1_CREDITS_BALANCE", "cloudcode-pa.googleapis.com")),
                        "plan_window stop - class"),
                row(
                        "capacity",
                        429,
                        exhausted("x", info("MODEL_CAPACITY_EXHAUSTED", "cloudcode-pa.googleapis.com"), retry("5s")),
                        "overload retry 5000 class"),
                row(
                        "the same reason elsewhere",
                        429,
                        exhausted("x", info("QUOTA_EXHAUSTED", "googleapis.com")),
                        "requests retry - class"),
                // Closed.
                row("quota 0", 429, exhausted(ALARM, quota(DAY, "0"), retry("9s")), "not_provisioned stop - class"),
                row(
                        "limit 0 in the second line",
                        429,
                        exhausted(ALARM + "\\n* metric: a, limit: 20\\n* metric: b, limit: 0, model: m"),
                        "not_provisioned stop - class"),
                row("limit 05 is not 0", 429, exhausted(ALARM + " limit: 05000, model"), "requests retry - class"),
                // The day beats a short RetryInfo, wherever it stands.
                row(
                        "day",
                        429,
                        exhausted(ALARM + " Please retry in 18.2s.", quota(DAY, "20"), retry("18s")),
                        "daily stop 68400000 class"),
                row(
                        "day beside a minute",
                        429,
                        exhausted(ALARM, quota(MINUTE, "2"), quota(DAY, "20"), retry("18s")),
                        "daily stop 68400000 class"),
                row(
                        "day by its metric",
                        429,
                        exhausted(ALARM, metric("generate_requests_per_model_per_day")),
                        "daily stop 68400000 class"),
                row(
                        "day by another name",
                        429,
                        exhausted(ALARM, quota("RequestsDailyPerProject", "9")),
                        "daily stop 68400000 class"),
                // Minutes: the longer of RetryInfo and text; structure beats alarming prose (dcdpr/jp#1061).
                row(
                        "input",
                        429,
                        exhausted(ALARM + " Please retry in 45.811974541s.", retry("45s"), quota(INPUT, "250000")),
                        "input retry 45812 class"),
                row(
                        "input by its metric",
                        429,
                        exhausted(ALARM, metric("generate_content_paid_tier_2_input_token_count")),
                        "input retry - class"),
                row(
                        "requests",
                        429,
                        exhausted(ALARM, quota(MINUTE, "2"), retry("38.922534355s")),
                        "requests retry 38923 class"),
                row(
                        "RetryInfo the longer",
                        429,
                        exhausted("Please retry in 3.2s.", quota(MINUTE, "2"), retry("9s")),
                        "requests retry 9000 class"),
                row(
                        "text alone",
                        429,
                        exhausted("Please retry in 3.2s.", quota(MINUTE, "2")),
                        "requests retry 3200 class"),
                row(
                        "ErrorInfo",
                        429,
                        exhausted("x", info("RATE_LIMIT_EXCEEDED", "googleapis.com")),
                        "requests retry - class"),
                row("negative delay", 429, exhausted("x", quota(MINUTE, "2"), retry("-3s")), "requests retry - class"),
                row("junk delay", 429, exhausted("x", quota(MINUTE, "2"), retry("soon")), "requests retry - class"),
                // Any other: often bare.
                row(
                        "bare",
                        429,
                        exhausted("Resource has been exhausted (e.g. check quota)."),
                        "requests retry - class"),
                row("bare, told", 429, exhausted("x", retry("7s")), "requests retry 7000 class"),
                row(
                        "empty violations",
                        429,
                        exhausted("x", "{\"@type\":\"type.googleapis.com/google.rpc.QuotaFailure\",\"violations\":[]}"),
                        "requests retry - class"),
                row("a proxy's page", 429, "<html>429</html>", "requests retry - class"),
                row("nothing", 429, "", "requests retry - class"),
                // Odd shapes.
                row("in an array", 429, "[" + exhausted(ALARM, quota(DAY, "20")) + "]", "daily stop 68400000 class"),
                row(
                        "as text in its own message",
                        429,
                        "{\"error\":{\"message\":" + quote(exhausted(ALARM, quota(MINUTE, "2"), retry("8s")))
                                + ",\"code\":429}}",
                        "requests retry 8000 class"),
                row(
                        "twice over, in an array",
                        429,
                        "[{\"error\":{\"message\":" + quote("[" + exhausted(ALARM, quota(DAY, "2")) + "]") + "}}]",
                        "daily stop 68400000 class"),
                row(
                        "a blank before the type",
                        429,
                        exhausted("x", quota(DAY, "20").replace("\"@type\"", "\" @type\"")),
                        "daily stop 68400000 class"),
                row(
                        "the quota as a number",
                        429,
                        exhausted("x", quota(DAY, "0").replace("\"0\"", "0")),
                        "not_provisioned stop - class"),
                row(
                        "the older list",
                        429,
                        "{\"error\":{\"code\":429,\"message\":\"x\",\"errors\":[{\"message\":\"x\",\"domain\":\"global\",\"reason\":\"rateLimitExceeded\"}]}}",
                        "requests retry - class"),
                row(
                        "the older list in a 403",
                        403,
                        "{\"error\":{\"code\":403,\"errors\":[{\"reason\":\"rateLimitExceeded\"}]}}",
                        "requests retry - class"),
                row(
                        "details of another type",
                        429,
                        exhausted("x", "5", "null", "{\"@type\":7}"),
                        "requests retry - class"),
                // Interactions: the code is a word.
                row(
                        "word for minutes",
                        429,
                        "{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"x\"}}",
                        "requests retry - class"),
                row(
                        "word for days",
                        429,
                        "{\"error\":{\"code\":\"quota_exceeded\",\"message\":\"x\"}}",
                        "daily stop 68400000 class"),
                // The provider's own trouble.
                row(
                        "overloaded",
                        503,
                        "{\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}",
                        "overload retry - class"),
                row("overloaded, proxy", 503, "<html>", "overload retry - class"),
                row("internal", 500, "{\"error\":{\"code\":500,\"status\":\"INTERNAL\"}}", "server retry - request"),
                row(
                        "deadline",
                        504,
                        "{\"error\":{\"code\":504,\"status\":\"DEADLINE_EXCEEDED\"}}",
                        "server retry - request"),
                row("408", 408, "", "server retry - request"),
                row("499", 499, "", "server retry - request"),
                // Our own fault.
                row("400", 400, "{\"error\":{\"code\":400,\"status\":\"INVALID_ARGUMENT\"}}", "invalid stop - request"),
                row(
                        "403",
                        403,
                        "{\"error\":{\"code\":403,\"status\":\"PERMISSION_DENIED\"}}",
                        "invalid stop - request"),
                row("fine", 200, "{\"candidates\":[]}", "fine"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("rows")
    void theFirstRuleThatMatchesDecides(String what, int status, String body, String expected) {
        assertThat(Told.verdict(Gemini.PROFILE, status, "", body)).isEqualTo(expected);
    }

    /** No one has seen it yet; if it ever comes it counts. */
    @Test
    void aRetryAfterHeaderIsHonoured() {
        assertThat(Told.verdict(Gemini.PROFILE, 429, "retry-after: 31", exhausted("x", retry("7s"))))
                .isEqualTo("requests retry 31000 class");
    }

    static Stream<Arguments> streams() {
        String error = exhausted("Please retry in 3s.", retry("3s"));
        return Stream.of(
                arguments("data: " + error + "\r\n\r\n", "requests retry 3000 class"),
                // Without "data:", on one line or on many, before or after good chunks.
                arguments(error, "requests retry 3000 class"),
                arguments(
                        "data: {\"candidates\":[]}\n\n" + error.replace(",", ",\n  ") + "\n",
                        "requests retry 3000 class"),
                // One array that comes in pieces.
                arguments("[{\"candidates\":[]}\n,\r\n" + error + "\n]", "requests retry 3000 class"),
                arguments("data: {\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}\n\n", "overload retry - class"),
                arguments("data: {\"error\":{\"code\":500,\"status\":\"INTERNAL\"}}\n\n", "server retry - request"),
                arguments(
                        "event: error\ndata: {\"event_type\":\"error\",\"error\":{\"code\":\"quota_exceeded\"}}\n\n",
                        "daily stop 68400000 class"),
                arguments(
                        "event: error\ndata: {\"event_type\":\"error\",\"error\":{\"code\":\"invalid_request\"}}\n\n",
                        "invalid stop - request"),
                arguments(
                        "event: error\ndata: {\"event_type\":\"error\",\"error\":{\"code\":\"what\"}}\n\n",
                        "server retry - request"));
    }

    @ParameterizedTest
    @MethodSource("streams")
    void refusalsInsideAStreamAreRefusals(String stream, String expected) {
        assertThat(Told.verdict(Told.stream(Gemini.PROFILE, stream))).isEqualTo(expected);
    }

    @Test
    void theSpendWindowTellsItsBoundAndIsProbedEarlier() {
        Reading reading = Gemini.PROFILE.read(Told.answer(429, "", exhausted("spend-based rate limit")));

        assertThat(Told.fact(reading, "wait_ms")).isEqualTo(600_000L);
        assertThat(reading.rejection().waitFor()).isEqualTo(Duration.ofSeconds(60));
    }

    @Test
    void aDayTellsWhatItCounts() {
        Reading tokens = Gemini.PROFILE.read(Told.answer(
                429, "", exhausted("x", quota("GenerateContentInputTokensPerModelPerDay", "1000000"), retry("18s"))));

        assertThat(tokens.explanation())
                .containsEntry("sub", "tokens")
                .containsEntry("limit", 1_000_000L)
                .containsEntry("until", "2026-08-25T07:00:00Z")
                .containsEntry("retry_info_ignored", "18s");
    }

    private static Arguments row(String what, int status, String body, String expected) {
        return arguments(what, status, body, expected);
    }

    private static String exhausted(String message, String... details) {
        return "{\"error\":{\"code\":429,\"message\":\"" + message
                + "\",\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[" + String.join(",", details) + "]}}";
    }

    private static String retry(String delay) {
        return "{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\"" + delay + "\"}";
    }

    private static String info(String reason, String domain) {
        return "{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":\"" + reason + "\",\"domain\":\""
                + domain + "\"}";
    }

    private static String quota(String id, String value) {
        return "{\"@type\":\"type.googleapis.com/google.rpc.QuotaFailure\",\"violations\":[{\"quotaId\":\"" + id
                + "\",\"quotaValue\":\"" + value + "\"}]}";
    }

    private static String metric(String metric) {
        return "{\"@type\":\"type.googleapis.com/google.rpc.QuotaFailure\",\"violations\":[{\"quotaMetric\":"
                + "\"generativelanguage.googleapis.com/" + metric + "\"}]}";
    }

    private static String quote(String json) {
        return "\"" + json.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}
