package io.sluice.provider;

import io.sluice.Profile;
import io.sluice.Provider;
import java.util.List;
import java.util.function.UnaryOperator;

/** The Gemini Developer API: generateContent, its streams with and without SSE, the Interactions API, Code Assist. */
public final class Gemini {
    /** How to read its answers. It sends no rate-limit headers. */
    public static final Profile PROFILE = new Dialect(
            Provider.GEMINI,
            GeminiErrors::read,
            answer -> new GeminiUsage(),
            (headers, at) -> List.of(),
            (headers, at) -> List.of(),
            Documents::gemini,
            UnaryOperator.identity(),
            "x-request-id");

    private Gemini() {}
}
