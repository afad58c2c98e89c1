package io.sluice.provider;

import io.sluice.Call;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A shape of requests: where the output cap stands in it, and the number of answers. Where several caps may stand the largest
 * counts: which of them the provider obeys is its own affair, and one that is too small was how 738 tokens passed a limit of 60
 * (BerriAI/litellm#34223).
 */
enum Shape {
    /** Chat completions and plain completions. */
    CHAT,
    RESPONSES,
    MESSAGES,
    GEMINI,
    INTERACTIONS,
    /** There is no output at all. */
    EMBEDDINGS,
    /** Nobody knows which: any member that is a cap in another. */
    ANY;

    private List<String> caps() {
        return switch (this) {
            case CHAT -> List.of("max_completion_tokens", "max_tokens");
            case RESPONSES -> List.of("max_output_tokens");
            case MESSAGES -> List.of("max_tokens", "max_tokens_to_sample");
            case GEMINI, INTERACTIONS -> List.of("maxOutputTokens", "max_output_tokens");
            case EMBEDDINGS -> List.of();
            case ANY ->
                List.of(
                        "max_completion_tokens",
                        "max_tokens",
                        "max_output_tokens",
                        "max_tokens_to_sample",
                        "maxOutputTokens");
        };
    }

    private List<String> counts() {
        return switch (this) {
            case CHAT -> List.of("n", "best_of");
            case GEMINI -> List.of("candidateCount", "candidate_count");
            case ANY -> List.of("n", "best_of", "candidateCount", "candidate_count");
            case RESPONSES, MESSAGES, INTERACTIONS, EMBEDDINGS -> List.of();
        };
    }

    /** The most one answer may have; {@code null} if the request names no cap. */
    @Nullable
    Long cap(JsonNode json) {
        if (this == EMBEDDINGS) {
            return 0L;
        }
        Long cap = largest(json, caps());
        // In protobuf zero and not said are the same.
        return cap != null && cap == 0 && this == GEMINI ? null : cap;
    }

    /** How many answers it asks for, 1 or more. */
    int choices(JsonNode json) {
        Long most = largest(json, counts());
        return most == null ? 1 : Math.toIntExact(Math.max(1, most));
    }

    private static @Nullable Long largest(JsonNode json, List<String> names) {
        JsonNode config = Heard.any(json, "generationConfig", "generation_config");
        Long largest = null;
        for (String name : names) {
            largest = larger(larger(largest, json.path(name)), config.path(name));
        }
        return largest;
    }

    private static @Nullable Long larger(@Nullable Long known, JsonNode node) {
        Long amount = amount(node);
        return amount == null || (known != null && known >= amount) ? known : amount;
    }

    /** Rounded up, at most {@link Call#MAX_TOKENS}; {@code null} for what is no number or negative, which means "no cap" to many. */
    private static @Nullable Long amount(JsonNode node) {
        if (node.isString()) {
            Long whole = Json.whole(node);
            return whole == null ? null : Math.min(Call.MAX_TOKENS, whole);
        }
        if (!node.isNumber() || node.asString().startsWith("-")) {
            return null;
        }
        return (long) Math.min(Call.MAX_TOKENS, Math.ceil(node.asDouble(Call.MAX_TOKENS)));
    }
}
