package io.sluice.provider;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The usage of OpenAI's chat and Responses APIs and of those who copy them: the prompt with its cached part in it,
 * output with reasoning in it. A chat stream tells it in the last chunk, and only if asked; a Responses stream in
 * {@code response.completed} or {@code response.incomplete}.
 *
 * <p>Sources: openai/openai-openapi; OpenRouterTeam/docs usage accounting for {@code cost}.
 */
final class OpenAiUsage implements UsageReader {
    private @Nullable JsonNode usage;
    private @Nullable String tier;
    private final boolean countsOutput;
    private boolean finished;
    private final Relayed relayed = new Relayed();

    /** @param countsOutput whether the provider has a limit on input and output together, to be told as well */
    OpenAiUsage(boolean countsOutput) {
        this.countsOutput = countsOutput;
    }

    @Override
    public void body(JsonNode json) {
        take(json);
        finished = true;
    }

    @Override
    public void event(JsonNode event) {
        String type = Json.text(event.path("type"));
        if (type.startsWith("response.")) {
            take(event.path("response"));
            if (type.endsWith(".delta")) {
                relayed.add(event.path("delta"));
            }
            finished |= type.equals("response.completed") || type.equals("response.incomplete");
            return;
        }
        take(event);
        boolean usageOnly =
                event.path("choices").isArray() && event.path("choices").isEmpty() && usage != null;
        finished |= usageOnly;
        for (JsonNode choice : event.path("choices")) {
            finished |= choice.path("finish_reason").isString();
            JsonNode delta = choice.path("delta");
            relayed.add(delta.path("content"));
            relayed.add(delta.path("refusal"));
            relayed.add(Heard.any(delta, "reasoning_content", "reasoning"));
            for (JsonNode call : delta.path("tool_calls")) {
                relayed.add(call.path("function").path("arguments"));
            }
        }
    }

    @Override
    public void done() {
        finished = true;
    }

    @Override
    public Tokens tokens() {
        if (usage == null) {
            return Tokens.UNKNOWN;
        }
        JsonNode in = Heard.any(usage, "prompt_tokens_details", "input_tokens_details");
        JsonNode out = Heard.any(usage, "completion_tokens_details", "output_tokens_details");
        Long output = Json.whole(Heard.any(usage, "completion_tokens", "output_tokens"));
        Tokens tokens = Tokens.ofPrompt(
                Json.whole(Heard.any(usage, "prompt_tokens", "input_tokens")),
                orZero(in.path("cache_write_tokens")),
                orZero(in.path("cached_tokens")),
                0,
                output);
        if (tokens.isUnknown()) {
            return Tokens.UNKNOWN;
        }
        Long input = tokens.input();
        return tokens.with("reasoning", Json.whole(out.path("reasoning_tokens")))
                .with("counts_to_token_limit", countsOutput && input != null && output != null ? input + output : null)
                .with("cost", Json.decimal(usage.path("cost")))
                .with("service_tier", tier);
    }

    @Override
    public boolean isOver() {
        return finished;
    }

    @Override
    public Relayed relayed() {
        return relayed;
    }

    private void take(JsonNode holder) {
        if (holder.path("usage").isObject()) {
            usage = holder.path("usage");
        }
        String told = Json.text(holder.path("service_tier"));
        if (!told.isEmpty()) {
            tier = told.toLowerCase(Locale.ROOT);
        }
    }

    private static long orZero(JsonNode node) {
        Long number = Json.whole(node);
        return number == null ? 0 : number;
    }
}
