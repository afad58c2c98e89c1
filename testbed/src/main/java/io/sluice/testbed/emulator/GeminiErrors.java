package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Decision.Rejected;
import java.math.BigDecimal;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The errors of Google's APIs: {@code QuotaFailure} names the limit, {@code RetryInfo} the wait, cut to whole seconds where
 * the text has it finer. Names of quotas follow replies seen in public; those of tokens a day and of output are made after
 * the same pattern.
 */
final class GeminiErrors {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final String TYPE = "type.googleapis.com/google.rpc.";
    private static final String METRIC = "generativelanguage.googleapis.com/";
    private static final long MINUTE_US = 60_000_000;

    private GeminiErrors() {}

    static ObjectNode error(int code, String status, String message) {
        ObjectNode body = JSON.createObjectNode();
        body.putObject("error").put("code", code).put("message", message).put("status", status);
        return body;
    }

    static ObjectNode exhausted(String message) {
        return error(429, "RESOURCE_EXHAUSTED", message);
    }

    /** All it says of limits nobody has a name for. */
    static ObjectNode bare() {
        return exhausted("Resource has been exhausted (e.g. check quota).");
    }

    static ObjectNode overloaded() {
        return error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.");
    }

    static ObjectNode internal() {
        return error(500, "INTERNAL", "An internal error has occurred.");
    }

    /** A rejection that comes after HTTP 200. */
    static ObjectNode inStream() {
        long waitUs = StreamError.WAIT_S * 1_000_000L;
        return retryIn(
                waitUs, exhausted("You exceeded your current quota.\nPlease retry in " + seconds(waitUs) + "s."));
    }

    /** A used-up day is told no longer wait than the next minute's: the real one does so, and clients have to know. */
    static ObjectNode quota(Rejected rejected, Denial.Rate rate) {
        Quota quota = Quota.of(rate.kind());
        long waitUs = rate.kind().isDaily() ? rejected.waitUs() % MINUTE_US : rejected.waitUs();
        String again = waitUs == 0 ? "" : "\nPlease retry in " + seconds(waitUs) + "s.";
        String model = rejected.call().model();
        ObjectNode body = exhausted("You exceeded your current quota, please check your plan and billing details.\n"
                + "* Quota exceeded for metric: " + METRIC + quota.metric + ", limit: " + rate.limit() + ", model: "
                + model + again);
        ArrayNode details = details(body);
        ObjectNode violation = details.addObject()
                .put("@type", TYPE + "QuotaFailure")
                .putArray("violations")
                .addObject()
                .put("quotaMetric", METRIC + quota.metric)
                .put("quotaId", quota.id);
        violation.putObject("quotaDimensions").put("location", "global").put("model", model);
        violation.put("quotaValue", Long.toString(rate.limit()));
        details.addObject()
                .put("@type", TYPE + "Help")
                .putArray("links")
                .addObject()
                .put("description", "Learn more about Gemini API quotas")
                .put("url", "https://ai.google.dev/gemini-api/docs/rate-limits");
        return retryIn(waitUs, body);
    }

    /** As Code Assist tells that a plan is used up. */
    static ObjectNode plan(long waitUs) {
        ObjectNode body = exhausted("You have exhausted your capacity on this model.");
        details(body)
                .addObject()
                .put("@type", TYPE + "ErrorInfo")
                .put("reason", "QUOTA_EXHAUSTED")
                .put("domain", "cloudcode-pa.googleapis.com");
        if (waitUs > 0) {
            details(body).addObject().put("@type", TYPE + "RetryInfo").put("retryDelay", seconds(waitUs) + "s");
        }
        return body;
    }

    /** With the wait, in whole seconds, if there is one. */
    static ObjectNode retryIn(long waitUs, ObjectNode body) {
        if (waitUs > 0) {
            details(body).addObject().put("@type", TYPE + "RetryInfo").put("retryDelay", waitUs / 1_000_000 + "s");
        }
        return body;
    }

    private static ArrayNode details(ObjectNode body) {
        return body.withObject("error").withArray("details");
    }

    private static String seconds(long us) {
        return BigDecimal.valueOf(us, 6).stripTrailingZeros().toPlainString();
    }

    /** What Google calls a limit. */
    private record Quota(String metric, String id) {
        static Quota of(Kind kind) {
            return switch (kind) {
                case REQUESTS ->
                    new Quota("generate_requests_per_model", "GenerateRequestsPerMinutePerProjectPerModel");
                case DAILY_REQUESTS ->
                    new Quota("generate_requests_per_model_per_day", "GenerateRequestsPerDayPerProjectPerModel");
                case DAILY_TOKENS ->
                    new Quota(
                            "generate_content_paid_tier_input_token_count",
                            "GenerateContentPaidTierInputTokensPerModelPerDay");
                case OUTPUT ->
                    new Quota(
                            "generate_content_paid_tier_output_token_count",
                            "GenerateContentPaidTierOutputTokensPerModelPerMinute");
                default ->
                    new Quota(
                            "generate_content_paid_tier_input_token_count",
                            "GenerateContentPaidTierInputTokensPerModelPerMinute");
            };
        }
    }
}
