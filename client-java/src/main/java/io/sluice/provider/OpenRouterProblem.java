package io.sluice.provider;

import static io.sluice.provider.Heard.is;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An error in one of OpenRouter's shapes: chat, Responses or Anthropic skin, at the top of an answer or chunk or in a
 * choice.
 *
 * @param error where it is; missing if only the status says so
 * @param status the HTTP status, or inside a 200 the error's own
 * @param errorType the platform's stable name, or empty
 * @param isSkin whether it came in Anthropic's shape
 */
record OpenRouterProblem(JsonNode error, int status, String message, String errorType, boolean isSkin) {

    static @Nullable OpenRouterProblem in(Heard heard) {
        JsonNode json = heard.json();
        JsonNode error = OpenAiProblem.node(json);
        JsonNode choice = json.path("choices").path(0);
        if (!error.isObject() && choice.path("error").isObject()) {
            error = choice.path("error");
        }
        boolean said = error.isObject()
                || (error.isString() && !error.asString().isBlank())
                || is(Json.text(choice.path("finish_reason")), "error")
                || is(Json.text(json.path("type")), "response.failed");
        if (heard.status() < 400 && !said) {
            return null;
        }
        JsonNode outer = json.path("response");
        String type = firstOf(
                error.path("metadata").path("error_type"),
                error.path("error_type"),
                json.path("error_type"),
                outer.path("error_type"));
        String message = error.isString() ? error.asString() : Json.text(error.path("message"));
        return new OpenRouterProblem(
                error,
                heard.status() >= 400 ? heard.status() : statusOf(error, type),
                message.isEmpty() ? heard.prose() : message,
                type,
                error.path("type").isString());
    }

    JsonNode metadata() {
        return error.path("metadata");
    }

    String reason() {
        return Json.text(metadata().path("reason"));
    }

    boolean isFrom(String source) {
        return is(Json.text(metadata().path("limit_source")), source);
    }

    boolean isUpstreams() {
        return isFrom("upstream_provider_shared_pool")
                || metadata().path("provider_name").isString()
                || Words.say(message, "rate-limited upstream");
    }

    boolean isPlatforms() {
        return isFrom("openrouter_free_tier_daily")
                || isFrom("openrouter_shared_capacity")
                || Words.say(message, "free-models-per-day", "free-models-per-min");
    }

    /** A header the platform copied into the body; names in any case. */
    @Nullable
    String copied(String name) {
        for (var member : metadata().path("headers").properties()) {
            if (member.getKey().toLowerCase(Locale.ROOT).equals(name)) {
                JsonNode value = member.getValue();
                return Json.text(value.isArray() ? value.path(0) : value);
            }
        }
        return null;
    }

    private static int statusOf(JsonNode error, String type) {
        Long number = Json.whole(Heard.any(error, "code", "http_status", "status"));
        if (number != null && number >= 400 && number < 600) {
            return number.intValue();
        }
        String code = Json.text(error.path("code"));
        for (String word : new String[] {type, code, Json.text(error.path("type"))}) {
            int status = statusOf(word);
            if (status > 0) {
                return status;
            }
        }
        return 500;
    }

    private static int statusOf(String word) {
        return switch (word) {
            case "rate_limit_exceeded", "rate_limit_error" -> 429;
            case "payment_required", "insufficient_credits", "billing_error" -> 402;
            case "provider_overloaded", "overloaded_error" -> 503;
            case "provider_unavailable" -> 502;
            case "invalid_request", "invalid_request_error", "invalid_prompt" -> 400;
            default -> 0;
        };
    }

    private static String firstOf(JsonNode... nodes) {
        for (JsonNode node : nodes) {
            if (node.isString() && !node.asString().isEmpty()) {
                return node.asString();
            }
        }
        return "";
    }
}
