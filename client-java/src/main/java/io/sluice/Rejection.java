package io.sluice;

import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A "no" from the provider, read from its HTTP status, headers and body.
 *
 * @param kind what ran out
 * @param scope how far it reaches
 * @param retryable whether the same request can succeed later; decided by the classification, not by the kind
 * @param waitFor the wait the provider stated, or {@code null} if it stated none
 */
public record Rejection(
        Kind kind, Scope scope, boolean retryable, @Nullable Duration waitFor) {

    /** What ran out. */
    public enum Kind {
        REQUESTS,
        INPUT,
        OUTPUT,
        TOKENS,
        IMAGES,
        CONCURRENCY,
        ACCELERATION,
        DAILY,
        SPEND,
        CREDITS,
        OVERLOAD,
        PLAN_WINDOW,
        UNSATISFIABLE,
        NOT_PROVISIONED,
        SERVER,
        INVALID;

        /** The name used in HTTP and metrics. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** How far a rejection reaches. */
    public enum Scope {
        REQUEST,
        CALLER,
        CLASS,
        PROJECT
    }
}
