package io.sluice.provider;

import io.sluice.Profile;
import io.sluice.Provider;
import java.util.List;
import java.util.function.UnaryOperator;

/** OpenRouter in its three skins: chat completions, Responses, Messages. */
public final class OpenRouter {
    /** How to read its answers. */
    public static final Profile PROFILE = new Dialect(
            Provider.OPENROUTER,
            OpenRouterErrors::read,
            answer -> new AnyUsage(answer.model(), false),
            RateLimitFields::readings,
            (headers, at) -> List.of(),
            Documents::openRouter,
            UnaryOperator.identity(),
            "x-generation-id");

    private OpenRouter() {}
}
