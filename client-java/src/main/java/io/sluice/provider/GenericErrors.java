package io.sluice.provider;

import io.sluice.Rejection.Kind;
import org.jspecify.annotations.Nullable;

/**
 * What a "no" of a provider without a profile of its own means: the problem types of the rate-limit draft, else the
 * shapes that others copy, Anthropic's and OpenAI's, else the status alone.
 */
final class GenericErrors {
    private GenericErrors() {}

    /** The verdict, or {@code null} if it is no refusal. */
    static @Nullable Verdict read(Heard heard) {
        String type = Json.text(heard.json().path("type"));
        Verdict verdict =
                type.equals("error") && heard.json().path("error").path("type").isString()
                        ? AnthropicErrors.read(heard)
                        : OpenAiErrors.read(heard);
        if (verdict == null) {
            return null;
        }
        Wait stated = Wait.stated(heard.headers(), heard.at());
        if (type.endsWith("#temporary-reduced-capacity")
                || heard.status() == 529
                || (heard.status() == 503 && verdict.kind() == Kind.SERVER)) {
            return Verdict.retry(Kind.OVERLOAD, Pause.PROVIDER_MODEL, Wait.orElse(stated, () -> Wait.BACKOFF));
        }
        Wait reset = heard.streamed() ? null : RateLimitFields.reset(heard.headers(), heard.at());
        boolean rate = verdict.kind() == Kind.REQUESTS || verdict.kind() == Kind.TOKENS;
        return rate && verdict.isRetryable() && verdict.waiting().length() == null && reset != null
                ? verdict.waiting(reset)
                : verdict;
    }
}
