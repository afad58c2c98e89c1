package io.sluice.provider;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Answers of other endpoints: token counts, which cost no tokens, and the limits that are configured. Read defensively:
 * an entry that makes no sense is left out.
 *
 * <p>Sources: the rate-limit and token-count references of Anthropic, OpenAI and Google; OpenRouter's key and credits
 * endpoints.
 */
final class Documents {
    private static final Map<String, String> ANTHROPIC = Map.of(
            "requests_per_minute", "rpm",
            "input_tokens_per_minute", "itpm",
            "input_tokens_per_minute_cache_aware", "itpm_cache_aware",
            "output_tokens_per_minute", "otpm",
            "tokens_per_minute", "tpm",
            "tokens_per_day", "tpd");

    private Documents() {}

    static @Nullable Map<String, Object> anthropic(JsonNode json) {
        Map<String, Object> count = count(json.path("input_tokens"));
        if (count != null || !json.path("data").isArray()) {
            return count;
        }
        Map<String, Object> told = config();
        for (JsonNode group : json.path("data")) {
            Map<String, Object> limits = new LinkedHashMap<>();
            for (JsonNode limit : group.path("limits")) {
                String type = Json.text(limit.path("type"));
                put(limits, ANTHROPIC.getOrDefault(type, type), Json.whole(limit.path("value")));
            }
            if (limits.isEmpty()) {
                continue;
            }
            if (group.path("models").isArray() && !group.path("models").isEmpty()) {
                group.path("models").forEach(model -> put(told, Json.text(model), limits));
            } else {
                put(told, Json.text(group.path("group_type")), limits);
            }
        }
        return told.size() > 1 ? told : null;
    }

    static @Nullable Map<String, Object> openAi(JsonNode json) {
        if (Json.text(json.path("object")).equals("response.input_tokens")) {
            return count(json.path("input_tokens"));
        }
        Map<String, Object> told = config();
        for (JsonNode entry : json.path("data")) {
            Map<String, Object> limits = new LinkedHashMap<>();
            put(limits, "rpm", Json.whole(entry.path("max_requests_per_1_minute")));
            put(limits, "tpm", Json.whole(entry.path("max_tokens_per_1_minute")));
            put(limits, "ipm", Json.whole(entry.path("max_images_per_1_minute")));
            put(limits, "audio_mb_per_minute", Json.whole(entry.path("max_audio_megabytes_per_1_minute")));
            put(limits, "rpd", Json.whole(entry.path("max_requests_per_1_day")));
            put(limits, "batch_queue_tokens", Json.whole(entry.path("batch_1_day_max_input_tokens")));
            put(told, Json.text(entry.path("model")), limits.isEmpty() ? null : limits);
        }
        return told.size() > 1 ? told : null;
    }

    static @Nullable Map<String, Object> gemini(JsonNode json) {
        return count(json.path("totalTokens"));
    }

    static @Nullable Map<String, Object> openRouter(JsonNode json) {
        JsonNode data = json.path("data");
        if (data.has("total_credits")) {
            Map<String, Object> credits = config();
            put(credits, "total_credits", number(data.path("total_credits")));
            put(credits, "total_usage", number(data.path("total_usage")));
            return credits;
        }
        if (!data.has("limit")) {
            return null;
        }
        Map<String, Object> told = config();
        put(told, "spend_limit", number(data.path("limit")));
        put(told, "spend_remaining", number(data.path("limit_remaining")));
        put(told, "spend_reset", data.path("limit_reset").isString() ? Json.text(data.path("limit_reset")) : null);
        JsonNode free = data.path("free_model_daily_requests");
        Map<String, Object> day = new LinkedHashMap<>();
        put(day, "limit", Json.whole(free.path("limit")));
        put(day, "remaining", Json.whole(free.path("remaining")));
        put(told, "free_rpd", day.isEmpty() ? null : day);
        // Deprecated, and always -1.
        put(told, "ignore", data.has("rate_limit") ? List.of("rate_limit") : null);
        return told;
    }

    private static @Nullable Map<String, Object> count(JsonNode tokens) {
        Long count = Json.whole(tokens);
        if (count == null) {
            return null;
        }
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("class", "count");
        told.put("input_tokens", count);
        return told;
    }

    private static @Nullable Object number(JsonNode node) {
        Long whole = node.isNumber() ? Json.whole(node) : null;
        return whole == null ? Json.decimal(node) : whole;
    }

    private static Map<String, Object> config() {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("class", "config");
        return told;
    }

    private static void put(Map<String, Object> told, String name, @Nullable Object value) {
        if (value != null && !name.isEmpty() && !told.containsKey(name)) {
            told.put(name, value);
        }
    }
}
