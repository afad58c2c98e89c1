package io.sluice.provider;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * Gemini's usage: the prompt with its cached part in it, tool input beside it, thinking beside the visible output. Each
 * chunk of a stream has a snapshot: the last one counts, nothing is added up. The Interactions API has other names for
 * the same.
 *
 * <p>Sources: googleapis/js-genai and python-genai; ai.google.dev, tokens page.
 */
final class GeminiUsage implements UsageReader {
    private JsonNode usage = MissingNode.getInstance();
    private boolean over;
    private final Relayed relayed = new Relayed();

    @Override
    public void body(JsonNode json) {
        if (json.isArray()) {
            // A stream without alt=sse, all of it.
            json.forEach(this::event);
        } else {
            event(json);
            over = true;
        }
    }

    @Override
    public void event(JsonNode event) {
        JsonNode chunk = event.path("response").isObject() ? event.path("response") : event;
        JsonNode interaction = event.path("interaction");
        JsonNode told = chunk.path("usageMetadata");
        if (!told.isObject()) {
            told = interaction.path("usage").isObject() ? interaction.path("usage") : chunk.path("usage");
        }
        if (told.isObject()) {
            usage = told;
        }
        for (JsonNode candidate : chunk.path("candidates")) {
            over |= candidate.path("finishReason").isString();
            for (JsonNode part : candidate.path("content").path("parts")) {
                relayed.add(part.path("text"));
            }
        }
        over |= chunk.path("promptFeedback").path("blockReason").isString();
        over |= Json.text(event.path("event_type")).equals("interaction.completed");
        relayed.add(event.path("delta").path("text"));
    }

    @Override
    public Tokens tokens() {
        Long prompt = figure("promptTokenCount", "total_input_tokens");
        Long cached = figure("cachedContentTokenCount", "total_cached_tokens");
        Long tools = figure("toolUsePromptTokenCount", "total_tool_use_tokens");
        Long visible = figure("candidatesTokenCount", "total_output_tokens");
        Long thoughts = figure("thoughtsTokenCount", "total_thought_tokens");
        Long total = figure("totalTokenCount", "total_tokens");
        Tokens tokens = Tokens.ofPrompt(
                prompt, 0, orZero(cached), orZero(tools), output(prompt, tools, visible, thoughts, total));
        return tokens.isUnknown()
                ? Tokens.UNKNOWN
                : tokens.with("reasoning", thoughts)
                        .with("tool_use_prompt", orZero(tools) == 0 ? null : tools)
                        .with("total", total);
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public Relayed relayed() {
        return relayed;
    }

    /** Early in a stream neither part may be told; then it is what the total leaves. */
    private static @Nullable Long output(
            @Nullable Long prompt,
            @Nullable Long tools,
            @Nullable Long visible,
            @Nullable Long thoughts,
            @Nullable Long total) {
        if (visible != null || thoughts != null) {
            return orZero(visible) + orZero(thoughts);
        }
        return total == null || prompt == null ? null : Math.max(0, total - prompt - orZero(tools));
    }

    private @Nullable Long figure(String name, String interactionsName) {
        return Json.whole(Heard.any(usage, name, interactionsName));
    }

    private static long orZero(@Nullable Long number) {
        return number == null ? 0 : number;
    }
}
