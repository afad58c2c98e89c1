package io.sluice.provider;

import static io.sluice.provider.Heard.is;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An error in one of OpenAI's shapes: {@code {error: {message, type, code}}}, flat in an {@code error} event of the
 * Responses API, inside {@code response.failed}, or in the list of a failed batch.
 *
 * @param status the HTTP status, or in a stream the one the error has elsewhere
 */
record OpenAiProblem(JsonNode error, int status, String type, String code, String message, boolean isBatch) {

    /** The error in an answer or event, or {@code null} if there is none. */
    static @Nullable OpenAiProblem in(Heard heard) {
        JsonNode json = heard.json();
        boolean batch = is(Json.text(json.path("object")), "batch");
        JsonNode error = batch ? json.path("errors").path("data").path(0) : node(json);
        boolean said = error.isObject()
                || (error.isString() && !error.asString().isBlank())
                || is(Json.text(json.path("type")), "response.failed");
        if (heard.status() < 400 && !said) {
            return null;
        }
        // Of a flat event "type" is what kind of event it is.
        String type = error.equals(json) ? "" : Json.text(error.path("type"));
        String code = Json.text(error.path("code"));
        String message = error.isString() ? error.asString() : Json.text(error.path("message"));
        if (message.isEmpty() && !said) {
            message = heard.prose();
        }
        int status = heard.status() >= 400 ? heard.status() : statusOf(code, type);
        return new OpenAiProblem(error, status, type, code, message, batch);
    }

    /** Where the error is; a missing node if there is none. */
    static JsonNode node(JsonNode json) {
        String type = Json.text(json.path("type"));
        JsonNode nested = json.path("error");
        if (nested.isObject() || nested.isString()) {
            return nested;
        }
        if (type.equals("response.failed")) {
            return json.path("response").path("error");
        }
        return type.equals("error") ? json : nested;
    }

    /** What the error would have been, had it come before the stream. */
    private static int statusOf(String code, String type) {
        Long number = Json.whole(code);
        if (number != null && number >= 400 && number < 600) {
            return number.intValue();
        }
        if (is(code, "rate_limit_exceeded") || is(type, "requests", "tokens", "rate_limit_error")) {
            return 429;
        }
        if (is(code, "server_is_overloaded", "slow_down", "overloaded") || is(type, "service_unavailable_error")) {
            return 503;
        }
        boolean request = code.startsWith("invalid")
                || code.startsWith("context_length")
                || code.startsWith("unsupported")
                || is(type, "invalid_request_error");
        return request ? 400 : 500;
    }
}
