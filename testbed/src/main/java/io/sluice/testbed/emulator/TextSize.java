package io.sluice.testbed.emulator;

import java.util.List;
import tools.jackson.databind.JsonNode;

/** How many tokens a request's text is: about 4 characters each, over everything the model would read. */
final class TextSize {
    static final int CHARACTERS_A_TOKEN = 4;

    private static final List<String> READ_BY_THE_MODEL = List.of(
            "system",
            "messages",
            "tools",
            "instructions",
            "input",
            "contents",
            "systemInstruction",
            "system_instruction");

    private TextSize() {}

    static long tokens(JsonNode body) {
        long characters = 0;
        for (String part : READ_BY_THE_MODEL) {
            characters += characters(body.path(part));
        }
        return Math.max(1, (characters + CHARACTERS_A_TOKEN - 1) / CHARACTERS_A_TOKEN);
    }

    private static long characters(JsonNode node) {
        if (node.isString()) {
            return node.asString().length();
        }
        long characters = 0;
        for (JsonNode child : node.values()) {
            characters += characters(child);
        }
        return characters;
    }
}
