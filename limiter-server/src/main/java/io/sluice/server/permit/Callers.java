package io.sluice.server.permit;

import io.sluice.server.security.Caller;
import org.jspecify.annotations.Nullable;

/** Whose an id is: a token's and an agent's. Neither can hold the bar between them. */
final class Callers {
    private Callers() {}

    static String of(Caller caller, @Nullable String agent) {
        return caller.name() + "|" + (agent == null ? "" : agent);
    }
}
