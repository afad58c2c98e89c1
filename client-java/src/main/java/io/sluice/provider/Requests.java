package io.sluice.provider;

import io.sluice.Asked;
import io.sluice.Asked.Kind;
import io.sluice.Attempt;
import io.sluice.Provider;
import io.sluice.Request;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** Reads requests before they are sent. */
final class Requests {
    private Requests() {}

    static Asked read(Provider provider, Request request) {
        Endpoint endpoint = Endpoint.of(request);
        if (endpoint.kind() != Kind.CALL) {
            return not(endpoint.kind(), endpoint.why());
        }
        byte[] body = request.body();
        JsonNode json = body.length > Attempt.MAX_BODY_BYTES ? MissingNode.getInstance() : Json.parse(body);
        String model = model(endpoint, json);
        if (endpoint.shape() == null && model == null) {
            return not(Kind.OTHER, Endpoint.UNKNOWN);
        }
        return json.isObject()
                ? call(provider, endpoint, model, json)
                : new Asked(
                        Kind.CALL,
                        "",
                        model,
                        body.length,
                        0,
                        0,
                        endpoint.shape() == Shape.EMBEDDINGS ? 0L : null,
                        1,
                        endpoint.streamed(),
                        true,
                        null,
                        null,
                        endpoint.name());
    }

    private static Asked not(Kind kind, String why) {
        return new Asked(kind, why, null, 0, 0, 0, null, 1, false, true, null, null, null);
    }

    private static Asked call(Provider provider, Endpoint endpoint, @Nullable String model, JsonNode json) {
        // Code Assist puts Gemini's request into one of its own.
        JsonNode inner =
                endpoint.shape() == Shape.GEMINI && json.path("request").isObject() ? json.path("request") : json;
        Shape shape = Objects.requireNonNullElse(endpoint.shape(), Shape.ANY);
        Prompt prompt = new Prompt(provider);
        prompt.read(inner);
        Long cap = shape.cap(inner);
        int choices = shape.choices(inner);
        boolean streamed = endpoint.streamed() || json.path("stream").asBoolean(false);
        return new Asked(
                Kind.CALL,
                "",
                model,
                prompt.bytes(),
                prompt.tokens(),
                prompt.attachments(),
                cap == null ? null : cap * choices,
                choices,
                streamed,
                !streamed || shape != Shape.CHAT || provider == Provider.OPENROUTER || asksForUsage(json),
                text(Heard.any(json, "service_tier", "serviceTier")),
                text(json.path("speed")),
                endpoint.name());
    }

    private static boolean asksForUsage(JsonNode json) {
        return json.path("stream_options").path("include_usage").asBoolean(false);
    }

    /** The path's, else the body's, else the first of those that OpenRouter may choose from. */
    private static @Nullable String model(Endpoint endpoint, JsonNode json) {
        if (endpoint.model() != null) {
            return endpoint.model();
        }
        String model = text(json.path("model"));
        if (model == null) {
            model = text(json.path("models").path(0));
        }
        // Google's own name for a model.
        return model != null && model.startsWith("models/") ? model.substring("models/".length()) : model;
    }

    private static @Nullable String text(JsonNode node) {
        return node.isString() && !node.asString().isBlank() ? node.asString() : null;
    }
}
