package io.sluice.provider;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** For those who speak several dialects: the first answer or event that has a shape decides. */
final class AnyUsage implements UsageReader {
    private final AnthropicUsage anthropic;
    private final OpenAiUsage openAi;
    private boolean isAnthropic;

    AnyUsage(@Nullable String model, boolean countsOutput) {
        anthropic = new AnthropicUsage(model);
        openAi = new OpenAiUsage(countsOutput);
    }

    @Override
    public void body(JsonNode json) {
        isAnthropic = Json.text(json.path("type")).equals("message");
        chosen().body(json);
    }

    @Override
    public void event(JsonNode event) {
        isAnthropic |= Json.text(event.path("type")).equals("message_start");
        chosen().event(event);
    }

    @Override
    public void done() {
        chosen().done();
    }

    @Override
    public Tokens tokens() {
        return chosen().tokens();
    }

    @Override
    public boolean isOver() {
        return chosen().isOver();
    }

    @Override
    public Relayed relayed() {
        return chosen().relayed();
    }

    private UsageReader chosen() {
        return isAnthropic ? anthropic : openAi;
    }
}
