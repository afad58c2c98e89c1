package io.sluice.provider;

import tools.jackson.databind.JsonNode;

/** Reads the usage of one answer, whole or event by event; what comes later replaces what came before. */
interface UsageReader {
    /** A whole answer. */
    void body(JsonNode json);

    /** One event of a stream. */
    void event(JsonNode event);

    /** The stream said that it is over. */
    default void done() {}

    Tokens tokens();

    /** Whether the stream got to where the provider has told everything. */
    boolean isOver();

    /** The text that came. */
    Relayed relayed();
}
