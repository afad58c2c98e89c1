package io.sluice;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The grant for one call: tokens reserved and a slot leased. Ends exactly once, by {@link #settle}, {@link #cancel},
 * {@link #throttled} or {@link #close}; later endings change nothing and say so. While it lives the client renews its
 * lease in the background.
 *
 * <pre>{@code
 * try (Permit permit = project.acquire(call, Duration.ofSeconds(30))) {
 *     Response response = send(request);
 *     permit.settle(response.usage());
 * }
 * }</pre>
 */
public interface Permit extends AutoCloseable {

    /** The request id: the caller's, or the fresh one it was given. */
    String id();

    /** What names this permit to the outside, such as an HTTP API: unguessable, 128 bits or more. */
    String handle();

    /** The model class whose limits it draws on. */
    String modelClass();

    /** How long the call waited for it. */
    Duration waited();

    /** How long the permit lives without renewal. */
    Duration lease();

    /** What was reserved. */
    Reserved reserved();

    /** Whether it was granted without Redis, by the outage policy. */
    boolean degraded();

    /**
     * What a policy in {@code mode: shadow} would have done to this call if it were enforced; empty where the call would have
     * started at once.
     */
    Optional<Shadow> wouldHaveWaited();

    /** Replaces the estimate by what was really used and frees the slot. */
    Ending settle(Usage usage);

    /** {@link #settle} without blocking. */
    CompletionStage<Ending> settleAsync(Usage usage);

    /**
     * Ends it as a provider's answer says: settled with the usage it told, or throttled where it was a refusal; of a refusal
     * within a stream what was told before is charged as well. The fleet learns all the rest: a refusal that reaches further than
     * this request puts its class or the project on hold, what the headers say is left lowers levels that are too high, and what
     * was used teaches what such calls reserve.
     */
    Ending settle(Reading reading);

    /** The same without blocking. */
    CompletionStage<Ending> settleAsync(Reading reading);

    /** Nothing was sent: gives everything back, the request included. */
    Ending cancel();

    /** {@link #cancel} without blocking. */
    CompletionStage<Ending> cancelAsync();

    /**
     * The provider rejected the call: the request stays charged, its tokens come back. If the rejection reaches further than this
     * request its class or the project is on hold for the whole fleet, from the next call on.
     */
    Ending throttled(Rejection rejection);

    /** {@link #throttled} without blocking. */
    CompletionStage<Ending> throttledAsync(Rejection rejection);

    /**
     * Tells that a request leaves under this permit, with its headers. Each counts as a request and is charged when the permit
     * ends; one whose {@code X-Stainless-Retry-Count} says that others went before counts for those too. Untold, one is.
     */
    void sent(Map<String, List<String>> headers);

    /**
     * Calls back once if the lease is lost: the slot belongs to others now, and the call should be stopped. Called at
     * once if that has happened already.
     */
    void onLost(Runnable listener);

    /** Ends the permit if nothing else did: charges the estimate. Never throws because of Redis. */
    @Override
    void close();

    /** What a permit took before its call was sent, in requests and LLM tokens. */
    record Reserved(long requests, long input, long cacheRead, long cacheWrite, long output) {}

    /**
     * Why a call would not have started at once. Example: 60 rpm, one taken 200 ms ago: {@code expected} is 800 ms.
     *
     * @param scope the scope of the limit it was short on, such as {@code c:sonnet}
     * @param limit the limit it was short on, such as {@code itpm}
     * @param expected how long it would have waited; empty: it would never have been admitted
     * @param estimate whether {@code expected} is an estimate
     */
    record Shadow(String scope, String limit, Optional<Duration> expected, boolean estimate) {}

    /**
     * How a permit ended.
     *
     * @param ended how: by this call, or by an earlier one if {@code already}
     * @param already whether it had ended before; then this call changed nothing
     * @param charged what the budget was charged in the end
     */
    record Ending(How ended, boolean already, Reserved charged) {}

    /** The ways a permit can end. */
    enum How {
        SETTLED,
        CANCELLED,
        THROTTLED,
        /** Its lease ran out. A settle within the hour still books the usage, once. */
        EXPIRED,
        /** Redis does not know it: it ended too long ago or never existed. Nothing was booked. */
        UNKNOWN
    }
}
