package io.sluice;

import io.sluice.InvalidPolicyException.Problem;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * What an operator does and asks: policies with who and when, levels, what a project holds now, what it used. Thread-safe; made by
 * {@link Sluice#admin}. Nothing here blocks: every answer comes on a thread of the client that may.
 *
 * <p>All of it fails with {@link OutageException} where Redis cannot answer; its reason is {@code no_project} where no policy is
 * installed. A "no" to an operator is an {@link AdminException}. An id, a name or a number out of its range is an
 * {@link IllegalArgumentException}, thrown at once.
 *
 * <p>{@code who} is kept with what was done: one line of 1 to 128 characters, such as the name of a token.
 */
public interface Admin {
    /** The most calls that wait, and the most agents, that {@link #status} names; the rest it counts. */
    int MOST_NAMED = 1_000;

    /** The most rows that {@link #usage} gives at a time. */
    int MOST_ROWS = 100_000;

    /** The most events that {@link #events} gives at a time. */
    int MOST_EVENTS = 1_000;

    /**
     * Whether Redis answers and takes writes: completes if so. Fails with {@link OutageException} and the reason: {@code readonly} on
     * a replica, {@code misconf} where it cannot save, {@code noperm} where this user may not write the list of projects, {@code
     * timeout}, … A Redis that is full passes: it takes what ends, and says {@code oom} to what begins. Nothing is written.
     */
    CompletionStage<Void> writable();

    // ---- policies

    /**
     * Every project with a policy, by id. From an index that installing and removing keep, so no key is searched for. What is known here
     * and missing there is looked for first, and put back if Redis has lost it.
     */
    CompletionStage<List<Listed>> projects();

    /** A project and the version in force. */
    record Listed(String project, long version) {}

    /** The policy in force. */
    CompletionStage<Sluice.Installed> installed(String project);

    /**
     * Sets a project's budget, or tells what that would do.
     *
     * @param expected the version that the caller has seen; {@code null} installs over whichever is in force. 0: none is
     * @param dryRun tells the change and makes none
     * @throws AdminException {@code VERSION_MISMATCH} if another version than the expected one is in force
     */
    CompletionStage<Change> install(Policy policy, @Nullable Long expected, String who, boolean dryRun);

    /**
     * What installing did, or would do.
     *
     * @param version in force afterwards
     * @param same whether the content is the one in force, so that the version stays
     * @param changes by path, the project's own first; empty if the content is the same
     * @param warnings of the policy, as {@link Policy#warnings}
     */
    record Change(long version, boolean same, List<Difference> changes, List<Problem> warnings) {}

    /**
     * One thing that changes.
     *
     * @param path a JSON Pointer into the policy, its classes, teams and the like by name: {@code /classes/sonnet/limits/rpm}
     * @param from the value as JSON; {@code null} where there was none
     * @param to the value as JSON; {@code null} where it goes
     * @param about for whom, in words: {@code class sonnet}, {@code team research}, {@code each agent}, {@code everyone}
     */
    record Difference(
            String path, @Nullable String from, @Nullable String to, String about) {}

    /** The last 50 versions, the newest first. */
    CompletionStage<List<Version>> versions(String project);

    /**
     * A version that is or was in force.
     *
     * @param at when it was installed, by Redis's clock
     * @param digest of the content: versions with the same digest have the same
     */
    record Version(long version, Instant at, String who, String digest) {}

    /** One of the last 50 versions; empty if it is none of them. */
    CompletionStage<Optional<Policy>> version(String project, long version);

    /**
     * Installs the content of an earlier version as a new one.
     *
     * @param expected the version that the caller has seen; {@code null} installs over whichever is in force
     * @throws AdminException {@code UNKNOWN_VERSION} if it is none of the last 50, {@code VERSION_MISMATCH} if another version than the
     *     expected one is in force
     */
    CompletionStage<Change> rollback(String project, long to, @Nullable Long expected, String who);

    /** The same over whichever version is in force. */
    default CompletionStage<Change> rollback(String project, long to, String who) {
        return rollback(project, to, null, who);
    }

    /**
     * Removes a project and everything that is kept of it.
     *
     * @param drain while permits are live: refuses new calls as {@code closed} from now on, and removes it once the last permit has
     *     ended or its lease has run out. This process sees to that; should it end before, whichever next asks for the project's status does
     * @param expected the version that the caller has seen; {@code null} removes it whichever is in force
     * @return whether it is gone; if not, it is being drained
     * @throws AdminException {@code PERMITS_LIVE} while permits are live, unless it may drain; {@code VERSION_MISMATCH} if another version
     *     than the expected one is in force
     */
    CompletionStage<Boolean> remove(String project, boolean drain, @Nullable Long expected, String who);

    /** The same whichever version is in force. */
    default CompletionStage<Boolean> remove(String project, boolean drain, String who) {
        return remove(project, drain, null, who);
    }

    // ---- orders

    /**
     * Sets how much is left of a limit that refills or has a window: the one way to forgive a debt. Told to the log of events with who and why.
     *
     * @param scope {@code p} or a part of the project, as {@link Refusal#scope} names it
     * @param limit such as {@code itpm}
     * @param to what is left of it, in the limit's units, at most what it can hold; negative is a debt
     * @param reason one line of 1 to 256 characters
     * @return what was left before, in units
     * @throws AdminException {@code UNKNOWN_LIMIT} if the scope has no such limit
     */
    CompletionStage<Double> level(String project, String scope, String limit, double to, String who, String reason);

    /** {@link Project#hold} without blocking, with who did it. */
    CompletionStage<Optional<Duration>> hold(
            String project, String scope, @Nullable Duration length, String who, String reason);

    /** {@link Project#release} without blocking, with who did it. */
    CompletionStage<Boolean> release(String project, @Nullable String scope, String who);

    // ---- what there is

    /** How a project stands now. */
    CompletionStage<Status> status(String project);

    /**
     * Who used what: of each hour or day that has begun in the span and each name one row, in the order of time, then of names. Hours
     * are kept 35 days, days 13 months, both in UTC; of an hour or a day at most 1,000 names of a kind (256 models), and what goes beyond
     * is together under {@code other}. Calls without a name are under {@code -}.
     *
     * @param to not included
     * @throws IllegalArgumentException if the span is longer than what is kept
     * @throws AdminException {@code TOO_MUCH} if that would be more than {@link #MOST_ROWS} rows: ask for a shorter span
     */
    CompletionStage<List<Used>> usage(String project, Instant from, Instant to, Step step, By by);

    /** How long a row of {@link #usage} lasts. */
    enum Step {
        HOUR,
        DAY
    }

    /** By whose names {@link #usage} tells. */
    enum By {
        TEAM,
        AGENT,
        MODEL,
        RUN,
        /** Of rejections: rows are by {@link Rejection.Kind#label} and tell nothing but how many there were. */
        KIND
    }

    /**
     * What was used under one name in one hour or day.
     *
     * @param at when that began, UTC
     * @param requests that were sent
     * @param input fresh input tokens; cache reads and writes come on top
     * @param microUsd by the policy's prices, in millionths of a dollar; 0 for what has no price
     * @param waitMs of all granted calls together, from asking to the permit
     * @param rejections the provider's "no"s
     * @param active how long it was there: from each time something was told of it to the next, of which more than 5 minutes count as one
     */
    record Used(
            Instant at,
            String name,
            long requests,
            long input,
            long cacheRead,
            long cacheWrite,
            long output,
            long microUsd,
            long waitMs,
            long rejections,
            Duration active) {}

    /** What all hosts did since the project was installed: for metrics. Whatever a host did counts within about a second. */
    CompletionStage<Counters> counters(String project);

    /**
     * What happened after an event, oldest first; about the last 1,000 are kept.
     *
     * @param afterId an {@link Event#id}; {@code null} or one that is not kept any more: from the oldest that is. {@code $}: nothing, but
     *     the newest event alone, to begin from
     * @param most 1 to {@link #MOST_EVENTS}
     */
    CompletionStage<List<Event>> events(String project, @Nullable String afterId, int most);

    /**
     * Something that happened.
     *
     * @param id orders events, and resumes after this one
     * @param at by Redis's clock
     * @param type {@code permit}, {@code wait}, {@code rejection}, {@code hold}, {@code policy} or {@code lost}
     * @param data a JSON object
     */
    record Event(String id, Instant at, String type, String data) {}

    /** Sends what this process has counted and not told yet; it does so each second anyway, and when it is closed. */
    CompletionStage<Void> flush();
}
