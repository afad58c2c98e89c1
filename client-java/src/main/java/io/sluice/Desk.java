package io.sluice;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Permits for calls that are not made in this process: what an HTTP API gives to agents in any language. Thread-safe; made by
 * {@link Sluice#desk}. Calls that ask here stand in the same line and draw on the same levels as those of {@link Project}.
 *
 * <p>A permit of the desk is not kept alive by this process: it lives by {@link #renew}, or its lease ends it. Nor is it tied to
 * this process: whoever has its name settles, renews and cancels it at any desk of the project, also after a restart. So does a
 * call that waits: where the process it waits in dies, the same caller asks with the same id at another desk, and keeps its place.
 *
 * <p>All forms complete with {@link RefusedException} for a "no" of Sluice, and with {@link OutageException} where Redis cannot
 * answer and the policy's {@code outage} has no permit either. Nothing blocks, and no call that waits holds a thread.
 */
public interface Desk {

    /** The project's id. */
    String project();

    /**
     * The same desk, whose results complete on this executor: that of the connection that waits for them saves a change of threads. What
     * it rejects is run where it was to be handed over.
     */
    Desk on(Executor executor);

    /**
     * Asks for a permit, and waits for it in line for up to {@code maxWait}.
     *
     * <p>The id decides what a repeated question is. Of the same caller with the same call: while the permit runs it is that permit,
     * {@link Handout#again}; while the first one waits it joins that wait; once the permit ended it is refused as {@code ENDED},
     * for 10 minutes; then it is a new call. An id that is in use by another caller, or for another call, is refused as {@code
     * CONFLICT}. A refusal for its deadline keeps the place in line for twice {@link Refusal#retryAfter}.
     *
     * <p>Cancelling the returned stage's {@link CompletionStage#toCompletableFuture future} says that the caller is gone: its place
     * in line goes, or the permit if it was granted at that moment, unless somebody else waits for the same id. (A permit that was
     * handed out before is left alone: its caller may have it.)
     *
     * @param waits hears why the call waits, and again when that changes, as {@link WaitListener#waiting}; called on a thread of
     *     the client, must not block
     * @throws IllegalArgumentException if {@code maxWait} is negative or {@code lease} is none that a permit can have
     */
    CompletionStage<Handout> acquire(Asking asking, Consumer<WaitListener.Waiting> waits);

    /**
     * Ends a permit as its caller reports. A repeat changes nothing and says so. Within an hour after its lease ran out what was
     * used is still booked, once, and the ending is {@code EXPIRED}; later, or where no permit has this name, it is {@code UNKNOWN}
     * and nothing is booked.
     *
     * <p>What is used above max(4 × the estimate, one minute of the limit) is booked at that bound.
     */
    CompletionStage<Outcome> settle(String permit, Report report);

    /**
     * Keeps a permit for another lease.
     *
     * @return for how long; empty: it has ended, its lease ran out, or there is none of this name
     */
    CompletionStage<Optional<Duration>> renew(String permit);

    /** Nothing was sent: gives everything back. {@code UNKNOWN} where no permit has this name. */
    CompletionStage<Permit.Ending> cancel(String permit);

    /**
     * Ends a caller's wait, at whichever desk it waits: all who wait for it are refused as {@code CANCELLED}.
     *
     * @return whether there was such a wait of this caller
     */
    CompletionStage<Boolean> cancelWait(String caller, String id);

    /**
     * Ends all that waits here, because this process is about to stop: with an {@link OutageException} of reason {@code closing}.
     * Places in line of calls that brought an id of their own are kept for 30 s: whoever asks again, at another desk, has them.
     * From now on nobody waits here any more; permits are settled, renewed and cancelled as ever.
     *
     * @return completes when Redis has heard of it: worth a few seconds before the process ends
     */
    CompletionStage<Void> closeLine();

    /**
     * Who asks for what.
     *
     * @param call with the caller's id, or without one; then it gets a fresh one
     * @param caller who asks, as its credentials say: the same id of another caller is another's; 1 to 512 characters
     * @param maxWait how long it may wait; 0: not at all; at most the policy's {@code queue.max_wait} is used
     * @param lease how long the permit lives without renewal: 1 s to 15 min; {@code null}: as the policy says
     */
    record Asking(
            Call call,
            String caller,
            Duration maxWait,
            @Nullable Duration lease) {
        private static final Duration SHORTEST = Duration.ofSeconds(1);
        private static final Duration LONGEST = Duration.ofMinutes(15);
        private static final int CALLER_LENGTH = 512;

        public Asking {
            if (caller.isEmpty() || caller.length() > CALLER_LENGTH) {
                throw new IllegalArgumentException("caller must have 1 to 512 characters, got " + caller.length());
            }
            if (maxWait.isNegative()) {
                throw new IllegalArgumentException("maxWait must not be negative, got " + maxWait);
            }
            if (lease != null && (lease.compareTo(SHORTEST) < 0 || lease.compareTo(LONGEST) > 0)) {
                throw new IllegalArgumentException("lease must be 1 s to 15 min, got " + lease);
            }
        }
    }

    /**
     * A permit, handed out.
     *
     * @param permit its name, for {@link #settle}, {@link #renew} and {@link #cancel}: made here, 128 bits that nobody can guess;
     *     only characters that may stand in a URL as they are, at most 200
     * @param id the caller's id, or the fresh one
     * @param modelClass the class whose limits it draws on
     * @param waited how long this question waited
     * @param lease how long it lives without renewal
     * @param reserved what it took
     * @param degraded whether it was given without Redis, by the outage policy; such a permit is known at this desk only until
     *     Redis answers again
     * @param again whether it had been handed out before, to the same caller and for the same call
     */
    record Handout(
            String permit,
            String id,
            String modelClass,
            Duration waited,
            Duration lease,
            Permit.Reserved reserved,
            boolean degraded,
            boolean again) {}

    /**
     * What a caller reports of its call. What it says can slow its own project for minutes, never stop it for a day: a hold that
     * comes of it lasts 5 minutes at most, and begins again with one call. Where money ran out ({@code SPEND}, {@code CREDITS}) one
     * reporter's word holds for that long too; a second one's, within that time, for as long as the provider said.
     *
     * @param reporter whose word it is, as its credentials say: the agents of one token are one reporter; 1 to 512 characters
     * @param usage what was used; parts that are {@code null} are read from {@code answer}, else the estimate stands
     * @param answer the provider's answer: status, headers and body as far as they are known, or {@code null}; read with the profile
     *     of the policy's provider
     * @param mayTeach whether the fleet may learn from it: holds, what is left of limits, what calls use
     */
    record Report(String reporter, Usage usage, @Nullable Answer answer, boolean mayTeach) {
        private static final int REPORTER_LENGTH = 512;

        public Report {
            if (reporter.isEmpty() || reporter.length() > REPORTER_LENGTH) {
                throw new IllegalArgumentException("reporter must have 1 to 512 characters, got " + reporter.length());
            }
        }
    }

    /**
     * How a permit ended and what its caller should do.
     *
     * @param ending how it ended, and what was charged
     * @param advice what to do now
     */
    record Outcome(Permit.Ending ending, Advice advice) {}

    /**
     * What to do after an answer of the provider.
     *
     * @param action what to do
     * @param pause of a retry: how long to wait before asking for a new permit; else {@code null}
     * @param kind what the provider refused for, {@code null} if it did not
     * @param scope how far that reaches, {@code null} if it did not
     */
    record Advice(
            Action action, @Nullable Duration pause, Rejection.@Nullable Kind kind, Rejection.@Nullable Scope scope) {
        /** There is nothing more to do. */
        static final Advice DONE = new Advice(Action.DONE, null, null, null);

        /** What to do. */
        public enum Action {
            /** Nothing: the call was served. */
            DONE,
            /** Wait, then ask for a new permit. */
            RETRY,
            /** The same request cannot succeed, or not before somebody acts. */
            STOP
        }
    }
}
