package io.sluice;

import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A "no" from the provider, read from its HTTP status, headers and body by a {@link Profile}.
 *
 * <p>Example: Anthropic's 429 "30,000 input tokens per minute" with {@code retry-after: 12} is input, class, retryable,
 * 12 s. OpenAI's 429 {@code insufficient_quota} is credits, project, not retryable, without a wait.
 *
 * @param kind what ran out
 * @param scope how far it reaches
 * @param retryable whether the same request can succeed later; decided by the classification, not by the kind
 * @param waitFor how long it holds: the wait the provider stated, or until the minute, day or month ends that it named.
 *     Zero means the moment is past: the caller's own least wait applies. {@code null} if nothing says: backoff if it is
 *     retryable, else until an operator acts
 */
public record Rejection(
        Kind kind, Scope scope, boolean retryable, @Nullable Duration waitFor) {

    /** What ran out. */
    public enum Kind {
        /** Requests in a minute; also a 429 that does not say what. */
        REQUESTS,
        /** Input tokens in a minute. */
        INPUT,
        /** Output tokens in a minute. */
        OUTPUT,
        /** Input and output tokens together. */
        TOKENS,
        /** Images in a minute. */
        IMAGES,
        /** Calls in flight. */
        CONCURRENCY,
        /** Traffic rose too fast, though no limit is reached. */
        ACCELERATION,
        /** A day's requests or tokens. */
        DAILY,
        /** A cap on money that has a reset, or an owner who can lift it. */
        SPEND,
        /** The balance is empty. */
        CREDITS,
        /** The provider's capacity, not our budget. */
        OVERLOAD,
        /** A subscription plan's window. */
        PLAN_WINDOW,
        /** This request can never fit. */
        UNSATISFIABLE,
        /** The limit is 0: not enabled for the account. */
        NOT_PROVISIONED,
        /** The provider failed at this request. */
        SERVER,
        /** The request is wrong. */
        INVALID;

        /** The name used in HTTP and metrics. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** How far a rejection reaches. */
    public enum Scope {
        /** This request alone: nobody else need wait. */
        REQUEST,
        /** One caller, as a gateway in front of the provider knows it. */
        CALLER,
        /** A model class: an organisation's or account's pool of one model or family. */
        CLASS,
        /** The whole project: the organisation, account or key. */
        PROJECT;

        /** The name used in HTTP and by {@code ./sluice classify}. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
