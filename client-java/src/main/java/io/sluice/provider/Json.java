package io.sluice.provider;

import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/** JSON from outside: what is not there, of another type or out of range is absent, never an exception. */
final class Json {
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final int MAX_DIGITS = 18;

    private Json() {}

    /** The document, or a missing node if the text is none. */
    static JsonNode parse(String text) {
        String json = text.startsWith("\ufeff") ? text.substring(1) : text;
        if (json.isBlank()) {
            return MissingNode.getInstance();
        }
        try {
            return MAPPER.readTree(json);
        } catch (JacksonException e) {
            return MissingNode.getInstance();
        }
    }

    /** The same of bytes as they are sent: UTF-8, or as a byte order mark says. */
    static JsonNode parse(byte[] bytes) {
        try {
            JsonNode json = bytes.length == 0 ? null : MAPPER.readTree(bytes);
            return json == null ? MissingNode.getInstance() : json;
        } catch (JacksonException e) {
            return MissingNode.getInstance();
        }
    }

    /** The text of a member, or the empty text. Numbers are told as text too. */
    static String text(JsonNode node) {
        return node.isString() || node.isNumber() ? node.asString() : "";
    }

    /** A whole number of 0 or more, also as text and with thousands commas; {@code null} for anything else. */
    static @Nullable Long whole(JsonNode node) {
        if (node.isString()) {
            return whole(node.asString());
        }
        if (!node.isNumber() || !node.canConvertToExactIntegral() || !node.canConvertToLong()) {
            return null;
        }
        long number = node.longValue();
        return number < 0 ? null : number;
    }

    /** The same of a header or of a word in a sentence. */
    static @Nullable Long whole(@Nullable String text) {
        if (text == null || text.length() > 2 * MAX_DIGITS) {
            return null;
        }
        String digits = text.strip().replace(",", "");
        if (digits.isEmpty() || digits.length() > MAX_DIGITS || !digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return null;
        }
        return Long.parseLong(digits);
    }

    /** A finite number of 0 or more. */
    static @Nullable BigDecimal decimal(JsonNode node) {
        if (!node.isNumber()) {
            return null;
        }
        double number = node.asDouble(Double.NaN);
        return Double.isFinite(number) && number >= 0 ? BigDecimal.valueOf(number) : null;
    }

    /** How many characters a text has; 0 if it is none. */
    static long length(JsonNode text) {
        return text.isString() ? text.asString().codePoints().count() : 0;
    }
}
