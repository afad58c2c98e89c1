package io.sluice;

import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A "no" from Sluice: nothing was taken.
 *
 * <p>Example: a class of 60 rpm whose bucket is empty refuses with kind {@code WAIT}, scope {@code c:sonnet}, limit
 * {@code rpm}, {@code retryAfter} 1.112 s (at headroom 0.9 one request refills in 60 s ÷ 54, rounded up to the ms).
 *
 * @param kind why
 * @param scope the scope of the limit that decided ({@code p}, {@code c:sonnet}, …), or {@code null} if none did
 * @param limit the name of the limit that decided, or {@code null} if none did
 * @param retryAfter how long to wait; {@code null} where waiting does not help
 * @param estimate whether {@code retryAfter} is an estimate (calls in flight, a line) and not exact
 * @param position its place in line, from 1 in its flow, or {@code null} where no line decided
 * @param message one sentence that names the limit and the values
 */
public record Refusal(
        Kind kind,
        @Nullable String scope,
        @Nullable String limit,
        @Nullable Duration retryAfter,
        boolean estimate,
        @Nullable Integer position,
        String message) {

    /** Why a call was refused. */
    public enum Kind {
        /** It does not fit now and did not want to wait. */
        WAIT,
        /** It would not fit, or did not, before its deadline. */
        DEADLINE,
        /** Too many calls wait already, or too many of its agent's. */
        QUEUE_FULL,
        /** The provider or an operator paused the project or class. */
        HOLD,
        /** It is larger than the limit will ever allow. */
        NEVER,
        /** The limit is 0. */
        CLOSED,
        /** No class of the policy matches the model. */
        UNKNOWN_MODEL,
        /** The policy lists workspaces and the call names another one. */
        UNKNOWN_WORKSPACE,
        /** A money limit applies and the model has no price. */
        UNPRICED,
        /** The id is in use with another body or by another caller. */
        CONFLICT,
        /** The permit of this id ended less than 10 minutes ago. */
        ENDED,
        /** The wait was cancelled, or the client was closed. */
        CANCELLED;

        /** The name used in HTTP and metrics. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
