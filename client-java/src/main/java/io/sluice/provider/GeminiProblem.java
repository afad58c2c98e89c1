package io.sluice.provider;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An error in Google's shape and the odd ones seen: wrapped in an array, all of it as JSON text inside its own message,
 * detail types with a blank before {@code @type}, the older list {@code errors}. Details come in any order.
 *
 * @param code the status as a number, 0 if it is none
 * @param status {@code RESOURCE_EXHAUSTED}; or the code where that is a word
 * @param reason of the {@code ErrorInfo}, or of the older list
 * @param domain of the {@code ErrorInfo}
 * @param retryDelay as written in {@code RetryInfo}, or empty
 */
record GeminiProblem(
        int code,
        String status,
        String message,
        String reason,
        String domain,
        String retryDelay,
        List<Violation> violations) {

    /** One quota that was exceeded. */
    record Violation(String metric, String id, @Nullable Long value) {
        boolean says(String... phrases) {
            return Words.say(id, phrases) || Words.say(metric, phrases);
        }
    }

    private static final int MAX_WRAPPING = 4;
    private static final int MAX_DETAILS = 32;

    /** The error in an answer or event, or {@code null} if there is none. */
    static @Nullable GeminiProblem in(JsonNode json) {
        JsonNode error = unwrapped(json);
        if (!error.isObject()) {
            return null;
        }
        String reason = "";
        String domain = "";
        String retryDelay = "";
        List<Violation> violations = new ArrayList<>();
        int left = MAX_DETAILS;
        for (JsonNode detail : error.path("details")) {
            String type = typeOf(detail);
            if (type.endsWith("google.rpc.ErrorInfo")) {
                reason = Json.text(detail.path("reason"));
                domain = Json.text(detail.path("domain"));
            } else if (type.endsWith("google.rpc.RetryInfo")) {
                retryDelay = Json.text(detail.path("retryDelay"));
            } else if (type.endsWith("google.rpc.QuotaFailure")) {
                addViolations(violations, detail.path("violations"));
            }
            if (--left == 0) {
                break;
            }
        }
        if (reason.isEmpty()) {
            reason = Json.text(error.path("errors").path(0).path("reason"));
        }
        Long code = Json.whole(error.path("code"));
        String word = code == null ? Json.text(error.path("code")) : "";
        return new GeminiProblem(
                code == null || code > 599 ? 0 : code.intValue(),
                word.isEmpty() ? Json.text(error.path("status")) : word,
                Json.text(error.path("message")),
                reason,
                domain,
                retryDelay,
                violations);
    }

    /** An error of which only the status can be read, and maybe some words. */
    static GeminiProblem unreadable(String words) {
        return new GeminiProblem(0, "", words, "", "", "", List.of());
    }

    private static JsonNode unwrapped(JsonNode json) {
        JsonNode node = json;
        JsonNode error = node;
        for (int i = 0; i < MAX_WRAPPING; i++) {
            node = node.isArray() ? firstWithError(node) : node;
            error = node.path("error");
            String message = Json.text(error.path("message")).strip();
            JsonNode inner = message.startsWith("{") || message.startsWith("[") ? Json.parse(message) : Json.parse("");
            if (!(inner.isArray() ? firstWithError(inner) : inner).path("error").isObject()) {
                return error;
            }
            node = inner;
        }
        return error;
    }

    private static JsonNode firstWithError(JsonNode array) {
        for (JsonNode element : array) {
            if (element.path("error").isObject()) {
                return element;
            }
        }
        return array.path(0);
    }

    private static void addViolations(List<Violation> violations, JsonNode list) {
        for (JsonNode violation : list) {
            if (violations.size() < MAX_DETAILS) {
                violations.add(new Violation(
                        Json.text(violation.path("quotaMetric")),
                        Json.text(violation.path("quotaId")),
                        Json.whole(violation.path("quotaValue"))));
            }
        }
    }

    private static String typeOf(JsonNode detail) {
        for (var member : detail.properties()) {
            if (member.getKey().strip().equals("@type")) {
                return Json.text(member.getValue()).strip();
            }
        }
        return "";
    }
}
