package io.sluice;

import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which calls of its models a class is for: all, or those of a service tier, a speed, an endpoint, or a long context, where
 * the provider has a pool of its own for them. A {@code null} condition is met by every call.
 *
 * @param serviceTier the tier the request asks for
 * @param speed the speed the request asks for
 * @param endpoint the endpoint it goes to
 * @param contextOver its input, cached input included, is more than so many tokens
 */
record When(
        @Nullable String serviceTier,
        @Nullable String speed,
        @Nullable String endpoint,
        @Nullable Integer contextOver) {
    static final When ALWAYS = new When(null, null, null, null);

    private static final String STANDARD = "standard";

    /** What requests say for the tier or speed they have anyway, if they say anything. */
    private static final Set<String> NORMAL = Set.of(STANDARD, "default", "auto", "standard_only");

    boolean matches(Call call) {
        return meets(serviceTier, call.serviceTier)
                && meets(speed, call.speed)
                && (endpoint == null || endpoint.equalsIgnoreCase(call.endpoint))
                && (contextOver == null || call.context() > contextOver);
    }

    /** Whether a tier or speed is the one that requests have if they say nothing. */
    static boolean isOrdinary(@Nullable String said) {
        return meets(STANDARD, said);
    }

    /** A call that says nothing of its tier or speed is an ordinary one. */
    private static boolean meets(@Nullable String wanted, @Nullable String said) {
        return wanted == null || normal(wanted).equals(normal(said == null ? STANDARD : said));
    }

    private static String normal(String word) {
        String lower = word.toLowerCase(Locale.ROOT);
        return NORMAL.contains(lower) ? STANDARD : lower;
    }

    /** Whether every call that meets {@code other} meets this too. */
    boolean covers(When other) {
        return (serviceTier == null || (other.serviceTier != null && meets(serviceTier, other.serviceTier)))
                && (speed == null || (other.speed != null && meets(speed, other.speed)))
                && (endpoint == null || endpoint.equalsIgnoreCase(other.endpoint))
                && (contextOver == null || (other.contextOver != null && contextOver <= other.contextOver));
    }
}
