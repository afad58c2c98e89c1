package io.sluice;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One provider project: the budget calls draw on. Thread-safe; made by {@link Sluice#project}.
 *
 * <p>All forms throw, or complete with, {@link RefusedException} for a "no" of Sluice. When Redis cannot answer it is the policy's
 * {@code outage} that decides: a permit all the same ({@link Permit#degraded}), or {@link OutageException}. The blocking forms refuse to run on threads that must not block (Netty's, Reactor's).
 */
public interface Project {

    /** The project's id. */
    String id();

    /** Asks once and never waits. */
    Decision tryAcquire(Call call);

    /** {@link #tryAcquire} without blocking. */
    CompletionStage<Decision> tryAcquireAsync(Call call);

    /**
     * Waits for a permit up to {@code maxWait}. Refused at once if the call's own wait is known to be longer.
     *
     * @param maxWait 0 asks once; very long values mean no deadline; at most the policy's {@code queue.max_wait} is used
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException if the thread is interrupted; nothing is left behind
     */
    Permit acquire(Call call, Duration maxWait) throws InterruptedException;

    /**
     * {@link #acquire} without blocking. Cancelling the returned future ends the wait, or the permit if it was granted
     * at that moment: nothing is left behind.
     */
    CompletionStage<Permit> acquireAsync(Call call, Duration maxWait);

    /**
     * Makes one call from its permit to its answer: waits for a permit, has the request sent, reads the answer with the
     * profile, ends the permit with what was used, and where the provider refused for a while, or the connection failed,
     * waits as long as it said and sends that request again; nothing else is done twice. Every wait is told to
     * {@link WaitListener#retrying}.
     *
     * <pre>{@code
     * Response response = project.call(call, Anthropic.PROFILE, attempt -> send(attempt));
     * }</pre>
     *
     * <p>The sender runs on the calling thread. What it throws besides IOException ends the call and is thrown on; the permit
     * is charged with what is known of the answer, else its estimate.
     *
     * @return the answer to a request that was served
     * @throws ProviderException if it was not, and sending it again cannot help or may no longer be tried
     * @throws RefusedException if there was no permit for it in time
     * @throws OutageException if Redis cannot answer before it was sent
     * @throws InterruptedException if the thread is interrupted; nothing is left behind
     */
    default Response call(Call call, Profile profile, Sender sender) throws InterruptedException {
        return call(call, profile, CallOptions.DEFAULT, sender);
    }

    /** The same with limits of its own. */
    Response call(Call call, Profile profile, CallOptions options, Sender sender) throws InterruptedException;

    /**
     * {@link #call} without blocking. Cancelling the returned future ends the wait, or cancels the stage the sender returned:
     * nothing is left behind.
     */
    default CompletionStage<Response> callAsync(Call call, Profile profile, Sender.Async sender) {
        return callAsync(call, profile, CallOptions.DEFAULT, sender);
    }

    /** The same with limits of its own. */
    CompletionStage<Response> callAsync(Call call, Profile profile, CallOptions options, Sender.Async sender);

    /**
     * Puts a scope on hold for the whole fleet, as an operator: from the next call on nothing starts there. Calls in flight go
     * on, and whoever waits keeps the place. A hold that is there already becomes longer, never shorter.
     *
     * @param scope {@code p} for the project, or one of its parts as {@link Refusal#scope} names it, such as {@code c:sonnet}; also
     *     {@code a:<agent>}, {@code t:<team>} and {@code r:<run>}, whether the policy has limits for them or not (a team is told as
     *     {@code e:<team>} from then on)
     * @param length at most 366 days; {@code null} until it is released
     * @param reason told to whoever is refused for it; one line, at most 256 bytes
     * @return for how long the scope is on hold now; empty: until it is released
     * @throws IllegalArgumentException if no calls draw on that scope: the policy has no such class, or no limits for that workspace
     */
    Optional<Duration> hold(String scope, @Nullable Duration length, String reason);

    /**
     * Ends the hold of a scope; of all of them where it is {@code null}. An operator's hold is over at once, one that the
     * provider asked for lets calls in again a few at first, as at its end.
     *
     * @return whether anything was on hold
     */
    boolean release(@Nullable String scope);
}
