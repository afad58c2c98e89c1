package io.sluice.provider;

import io.sluice.Profile;
import io.sluice.Provider;

/** Anthropic's Messages API, with the headers of API keys, the fast and priority pools, and subscriptions. */
public final class Anthropic {
    /** How to read its answers. */
    public static final Profile PROFILE = new Dialect(
            Provider.ANTHROPIC,
            AnthropicErrors::read,
            answer -> new AnthropicUsage(answer.model()),
            AnthropicHeaders::limits,
            AnthropicHeaders::windows,
            Documents::anthropic,
            tokens -> tokens.with("counts_to_output_limit", tokens.output()),
            "request-id");

    private Anthropic() {}
}
