package io.sluice.testbed.emulator;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** OpenRouter's chat completion: usage with its cost, always, and comments that keep a stream alive. */
final class OpenRouterAnswer extends ChatAnswer {
    private final String generation;
    private final long created;
    private final Prices prices;

    /** @param created in epoch seconds */
    OpenRouterAnswer(Call call, String generation, long created, Prices prices) {
        super(call);
        this.generation = generation;
        this.created = created;
        this.prices = prices;
    }

    @Override
    ObjectNode head(String object) {
        return JSON.createObjectNode()
                .put("id", generation)
                .put("object", object)
                .put("created", created)
                .put("model", call.model())
                .put("provider", OpenRouterDialect.UPSTREAM);
    }

    @Override
    void finish(ObjectNode message, ObjectNode choice) {
        choice.put("native_finish_reason", reason());
    }

    @Override
    ObjectNode usage() {
        ObjectNode usage =
                super.usage().put("cost", prices.of(call).dollars(call)).put("is_byok", false);
        usage.putObject("cost_details").putNull("upstream_inference_cost");
        return usage;
    }

    @Override
    public String opening() {
        return ": OPENROUTER PROCESSING\n\n" + super.opening();
    }

    @Override
    String end() {
        ObjectNode last = chunk("", false, reason());
        last.set("usage", details(usage()));
        return data(last);
    }

    @Override
    JsonNode error(StreamError.What what) {
        ObjectNode chunk = chunk("", false, "error");
        JsonNode failure = switch (what) {
            case OVERLOAD -> OpenRouterDialect.failure(503, "Provider overloaded", "provider_overloaded");
            case REQUESTS -> OpenRouterDialect.failure(429, "Rate limit exceeded", "rate_limit_exceeded");
            default -> OpenRouterDialect.failure(502, "Provider disconnected", "provider_unavailable");
        };
        chunk.set("error", failure.path("error"));
        return chunk;
    }
}
