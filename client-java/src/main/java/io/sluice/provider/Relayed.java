package io.sluice.provider;

import tools.jackson.databind.JsonNode;

/** The text of a stream as it comes, counted. Not kept. */
final class Relayed {
    private static final int CHARACTERS_A_TOKEN = 4;

    private long characters;
    private long pieces;

    /** Some of it, or a node that is none. */
    void add(JsonNode text) {
        long length = Json.length(text);
        characters += length;
        pieces += length > 0 ? 1 : 0;
    }

    long characters() {
        return characters;
    }

    /** A quarter of the characters, rounded down. */
    long quarter() {
        return characters / CHARACTERS_A_TOKEN;
    }

    /** The least number of tokens it can have been: a quarter of its characters, and no piece of a stream is less than one. */
    long tokens() {
        return Math.max(quarter(), pieces);
    }
}
