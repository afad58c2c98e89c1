package io.sluice.provider;

import io.sluice.Profile;
import io.sluice.Provider;
import java.util.List;
import java.util.function.UnaryOperator;

/** Any other provider: the common shapes of errors and usage, and the headers of the rate-limit draft. */
public final class Generic {
    /** How to read its answers. */
    public static final Profile PROFILE = new Dialect(
            Provider.GENERIC,
            GenericErrors::read,
            answer -> new AnyUsage(answer.model(), true),
            RateLimitFields::readings,
            (headers, at) -> List.of(),
            json -> null,
            UnaryOperator.identity(),
            "x-request-id");

    private Generic() {}
}
