package io.sluice.provider;

import io.sluice.Profile;
import io.sluice.Provider;

/** The profile of each provider. */
public final class Profiles {
    private Profiles() {}

    /** How to read a provider's answers. */
    public static Profile of(Provider provider) {
        return switch (provider) {
            case ANTHROPIC -> Anthropic.PROFILE;
            case OPENAI -> OpenAi.PROFILE;
            case GEMINI -> Gemini.PROFILE;
            case OPENROUTER -> OpenRouter.PROFILE;
            case GENERIC -> Generic.PROFILE;
        };
    }
}
