package io.sluice.testbed.emulator;

import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An HTTP request as a dialect reads it.
 *
 * @param path without query
 * @param query what follows the {@code ?}; empty if nothing does
 * @param headers the value of a header by its name, {@code null} if absent
 */
record Incoming(String method, String path, String query, UnaryOperator<@Nullable String> headers, String body) {

    /** More than any provider lets a call ask for, and far from what sums of it could not hold. */
    private static final long LARGEST_CAP = 1_000_000_000;

    /** @throws BadRequest if the body is no JSON object */
    JsonNode json() {
        try {
            JsonNode json = JsonMapper.shared().readTree(body);
            if (json.isObject()) {
                return json;
            }
        } catch (JacksonException e) {
            throw new BadRequest("The request body is not valid JSON: " + e.getOriginalMessage());
        }
        throw new BadRequest("The request body must be a JSON object");
    }

    /** @throws BadRequest if a number is out of range, naming its header */
    Simulation simulation() {
        return Simulation.of(headers);
    }

    /** The model a body names. */
    static String model(JsonNode body) {
        JsonNode model = body.path("model");
        if (!model.isString() || model.asString().isEmpty() || model.asString().length() > 256) {
            throw new BadRequest(
                    "model: " + (model.isMissingNode() ? "Field required" : "must be 1 to 256 characters"));
        }
        return model.asString();
    }

    /** What the model is asked; some may be given as text instead of a list. */
    static void requireList(JsonNode body, String name, boolean orText) {
        JsonNode list = body.path(name);
        boolean good = (orText && list.isString()) ? !list.asString().isEmpty() : list.isArray() && !list.isEmpty();
        if (!good) {
            throw new BadRequest(
                    name + ": " + (list.isMissingNode() ? "Field required" : "at least one message is required"));
        }
    }

    /** A cap on output; {@code null} if there is none. */
    static @Nullable Long cap(JsonNode body, String name) {
        JsonNode cap = body.path(name);
        if (cap.isMissingNode() || cap.isNull()) {
            return null;
        }
        if (!cap.isIntegralNumber() || !cap.canConvertToLong() || cap.asLong() < 1 || cap.asLong() > LARGEST_CAP) {
            throw new BadRequest(name + ": must be 1 to " + LARGEST_CAP);
        }
        return cap.asLong();
    }
}
