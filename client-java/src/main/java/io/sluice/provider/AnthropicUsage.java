package io.sluice.provider;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Anthropic's usage: input after the last cache breakpoint, cache writes and reads beside it, output with thinking in
 * it. In a stream {@code message_start} tells the input, each {@code message_delta} running totals: a member that is
 * present replaces the earlier one, nothing is added up.
 *
 * <p>Sources: platform.claude.com, streaming page; the accumulators of anthropic-sdk-python and -typescript.
 */
final class AnthropicUsage implements UsageReader {
    private static final String[] MEMBERS = {
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "output_tokens",
        "output_tokens_details",
        "service_tier"
    };

    private final ObjectNode usage = JsonNodeFactory.instance.objectNode();
    private @Nullable String model;
    private boolean over;
    private final Relayed relayed = new Relayed();

    AnthropicUsage(@Nullable String model) {
        this.model = model;
    }

    @Override
    public void body(JsonNode json) {
        name(json.path("model"));
        merge(json.path("usage"));
        over = true;
    }

    @Override
    public void event(JsonNode event) {
        switch (Json.text(event.path("type"))) {
            case "message_start" -> {
                name(event.path("message").path("model"));
                merge(event.path("message").path("usage"));
            }
            case "content_block_delta" -> {
                JsonNode delta = event.path("delta");
                relayed.add(delta.path("text"));
                relayed.add(delta.path("thinking"));
                relayed.add(delta.path("partial_json"));
            }
            case "message_delta" -> merge(event.path("usage"));
            case "message_stop" -> over = true;
            default -> {
                // Pings, and events that do not exist yet.
            }
        }
    }

    @Override
    public Tokens tokens() {
        if (usage.isEmpty()) {
            return Tokens.UNKNOWN;
        }
        return Tokens.ofParts(
                        Json.whole(usage.path("input_tokens")),
                        orZero(usage.path("cache_creation_input_tokens")),
                        orZero(usage.path("cache_read_input_tokens")),
                        countsCacheReads(model),
                        Json.whole(usage.path("output_tokens")))
                .with(
                        "reasoning",
                        Json.whole(usage.path("output_tokens_details").path("thinking_tokens")))
                .with("service_tier", tier());
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public Relayed relayed() {
        return relayed;
    }

    /** Haiku 3.5 and older; every later model leaves cache reads out of its input limit. */
    private static boolean countsCacheReads(@Nullable String model) {
        String name = model == null ? "" : model.toLowerCase(Locale.ROOT).replace('.', '-');
        return name.contains("claude-3-5-haiku") || name.contains("claude-3-haiku") || name.contains("claude-haiku-3");
    }

    private @Nullable String tier() {
        String tier = Json.text(usage.path("service_tier"));
        return tier.isEmpty() ? null : tier;
    }

    private void name(JsonNode name) {
        if (model == null && name.isString()) {
            model = name.asString();
        }
    }

    private void merge(JsonNode told) {
        for (String member : MEMBERS) {
            JsonNode value = told.path(member);
            boolean figure = member.endsWith("_tokens");
            if (figure ? Json.whole(value) != null : value.isObject() || value.isString()) {
                usage.set(member, value);
            }
        }
    }

    private static long orZero(JsonNode node) {
        Long number = Json.whole(node);
        return number == null ? 0 : number;
    }
}
