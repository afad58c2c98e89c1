package io.sluice;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a project stands.
 *
 * @param version of the policy in force
 * @param mode {@code enforce}, {@code shadow}, or {@code draining} while it is being removed
 * @param degraded whether calls of this process meet the policy's outage rule: Redis does not answer them
 * @param limits of every scope, the project's first; none of single agents', teams' and runs' own
 * @param provider what the provider said last
 * @param waiting at most {@link Admin#MOST_NAMED}, by the order of their flows
 * @param waiters how many wait in all
 * @param agents at most {@link Admin#MOST_NAMED}: calling ones first, then waiting, then quiet
 * @param agentsInAll how many there are of them, as far as is known
 * @param holds scopes that are on hold, or opening after one
 * @param rejections of the provider since the project was installed, by {@link Rejection.Kind#label}
 * @param hosts how many gave a sign of life in the last minute
 * @param inFlight calls that run, by scope: {@code p}, {@code c:sonnet}
 */
public record Status(
        long version,
        String mode,
        boolean degraded,
        List<Limit> limits,
        List<Said> provider,
        List<Waiting> waiting,
        long waiters,
        List<Agent> agents,
        long agentsInAll,
        List<Hold> holds,
        Map<String, Long> rejections,
        long hosts,
        Map<String, Long> inFlight) {

    /**
     * As JSON, in one line: what {@code GET /v1/projects/PROJECT/status} of a server answers. Names are those of this record in
     * {@code snake_case}, {@code modelClass} is {@code class}; times are in ms and their names end so, instants are RFC 3339. A limit's
     * numbers have no more decimals than they need. {@code left_ms} of a hold is null until somebody releases it, 0 where it lets calls in
     * again, a few at first.
     *
     * @param at when it stood so
     */
    public String toJson(String project, Instant at) {
        return StatusDocument.of(project, at, this).toString();
    }

    /**
     * How much of a limit is left.
     *
     * @param scope {@code p} the project, {@code c:sonnet} a class, {@code t:research} a team
     * @param limit such as {@code itpm} or {@code concurrency}
     * @param amount what the policy states
     * @param level what may still be taken at once, in units of the amount; below 0: debt. Of {@code concurrency} free slots
     * @param capacity what {@code level} is when nothing was taken
     * @param inFlight calls that run in the scope
     * @param resetMs until nothing of it is taken any more if nothing more is taken; 0: it is full, -1: never.
     *     Of {@code concurrency} 0
     */
    public record Limit(
            String scope, String limit, double amount, double level, double capacity, long inFlight, long resetMs) {}

    /**
     * What the provider said in an answer.
     *
     * @param modelClass the class; {@code -} of the whole project
     * @param amount what it says the limit is; {@code null} if it did not
     * @param remaining what it said is left; {@code null} if it did not
     * @param reset until it is full by its word; {@code null} if it did not say, zero: it is by now
     */
    public record Said(
            String modelClass,
            String limit,
            @Nullable Long amount,
            @Nullable Long remaining,
            @Nullable Duration reset,
            Instant seenAt) {}

    /**
     * A call that waits.
     *
     * @param agent {@code -} if it named none
     * @param team one of the policy's, or {@code other}
     * @param limit the limit it is short on, {@code line} if only others stand before it
     * @param scope of that limit
     * @param position in its flow (team and priority), from 1
     * @param waitMs how long it is expected to wait on
     */
    public record Waiting(
            String id,
            String agent,
            String team,
            Priority priority,
            String modelClass,
            String scope,
            String limit,
            long position,
            long waitedMs,
            long waitMs,
            String host) {}

    /**
     * A worker.
     *
     * @param sinceMs how long it is in this state
     */
    public record Agent(String agent, String team, State state, long sinceMs) {}

    /** What a worker is doing. */
    public enum State {
        /** A call of it runs. */
        CALLING,
        /** A call of it waits. */
        WAITING,
        /** It was active in the last hour, and is neither. */
        QUIET;

        /** {@code calling}, {@code waiting} or {@code quiet}. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A scope on hold.
     *
     * @param kind what ran out, as {@link Rejection.Kind#label}, or {@code operator}
     * @param left until it lets calls in; {@code null} until it is released, zero: it does again, a few at first
     * @param retryable whether the same request can succeed when it is over
     * @param since when it began
     * @param reason in words, or empty
     */
    public record Hold(
            String scope, String kind, @Nullable Duration left, boolean retryable, Instant since, String reason) {}
}
