package io.sluice.provider;

import io.sluice.Profile;
import io.sluice.Provider;
import java.util.function.UnaryOperator;

/** OpenAI's chat completions and Responses APIs, and ChatGPT plans through Codex. */
public final class OpenAi {
    /** How to read its answers. */
    public static final Profile PROFILE = new Dialect(
            Provider.OPENAI,
            OpenAiErrors::read,
            answer -> new OpenAiUsage(true),
            (headers, at) -> OpenAiHeaders.limits(headers),
            OpenAiHeaders::windows,
            Documents::openAi,
            UnaryOperator.identity(),
            "x-request-id");

    private OpenAi() {}
}
