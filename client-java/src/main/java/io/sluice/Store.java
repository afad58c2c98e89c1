package io.sluice;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Where the budgets live: the seam between what the client does and the scripts that decide. One method a script; each
 * answer is one of a few records, and a reply that is none of them is an {@link OutageException}, never permission.
 *
 * <p>Not for users. The one implementation talks to Redis; tests may put another in its place.
 */
public interface Store extends AutoCloseable {

    /** Makes stores for some URI schemes; found by {@link java.util.ServiceLoader}. */
    interface Provider {
        boolean accepts(String scheme);

        /** @throws OutageException if the store does not answer or is not fit for use */
        Store open(String uri);
    }

    /** Asks for everything a call needs, at once. Repeating it with the same id is safe. */
    CompletionStage<Answer> acquire(Ask ask);

    /** Ends a permit or a wait. Repeating it is safe. */
    CompletionStage<Settled> settle(Settlement settlement);

    /** A host's sign of life: renews its leases, claims what it was granted, looks after its waiters. */
    CompletionStage<Beat> beat(BeatAsk ask);

    /** Installs a policy, or mends a project with one. */
    CompletionStage<Installed> install(Installation installation);

    /** The policy in force, or {@code null} if none is installed. */
    CompletionStage<@Nullable StoredPolicy> policy(String project);

    /**
     * Hears which ids of this host were granted in the line, until closed: hints to claim them. They may be lost; never
     * rely on one.
     */
    AutoCloseable listen(String project, String host, Consumer<List<String>> granted);

    /** Whether the current thread is one that must not block, because it delivers this store's replies. */
    boolean mustNotBlock();

    /** Whether it answered lately. */
    boolean answers();

    @Override
    void close();

    /** A permit as Redis knows it. {@code nonce} is empty where the id itself is unguessable. */
    record PermitName(String id, String nonce) {}

    /** What one scope is asked for or was used of: the cost on each of its limits, by position. */
    record ScopeCost(String scope, List<Long> units) {}

    /**
     * @param stamp version and epoch of the policy the call was resolved against
     * @param digest of caller and body
     * @param leaseUs 1 s to 15 min
     * @param memo kept and given back, at most 256 bytes
     * @param flow whose share it draws on while calls wait
     * @param weight of the flow, 1 to 1,000,000
     * @param agent the worker, or {@code -}
     * @param waitUs how long it may stand in line; 0: not at all
     * @param costs of each scope, the project first
     */
    record Ask(
            String project,
            String stamp,
            PermitName permit,
            String digest,
            String host,
            long leaseUs,
            String memo,
            String flow,
            int weight,
            String agent,
            long waitUs,
            List<ScopeCost> costs) {}

    /** Of {@link Shadow#waitUs}: it would have waited for ever. */
    long FOREVER = -1;

    /** What a policy that only watches would have done: let it wait, {@link #FOREVER} where it would never have started. */
    record Shadow(long waitUs, long exactUs, String scope, String limit) {}

    /**
     * Why a call cannot start.
     *
     * @param waitUs the expected wait
     * @param exactUs the call's own wait, the line ignored; 0 if it waits for slots or for the line only
     * @param scope the scope of the limit it is short on
     * @param limit the limit it is short on
     * @param position its place in its flow, from 1; 0 if there is no line
     */
    record Queued(long waitUs, long exactUs, String scope, String limit, int position) {
        /** Whether {@code waitUs} is more than a guess. */
        boolean exact() {
            return position <= 1 && waitUs == exactUs;
        }
    }

    /** The answer to an {@link Ask}. */
    sealed interface Answer {
        /**
         * It runs. {@code again}: it ran already, granted to the same caller for the same body.
         *
         * @param shadow what would have been, where the policy only watches and it would have waited
         */
        record Granted(
                String nonce,
                long leaseUs,
                long nowUs,
                String memo,
                boolean again,
                @Nullable Shadow shadow) implements Answer {}

        /** It stands in line. {@code nextUs}: until anything in the project can start, -1 if nobody knows. */
        record Waiting(Queued queued, long nextUs) implements Answer {}

        /** Not now, and it does not stand in line: it would not wait, or not long enough. */
        record Wait(Queued queued) implements Answer {}

        /**
         * No room in the line.
         *
         * @param waiting how many there are already
         * @param most how many there may be
         * @param what of what: {@code line} all waiters, {@code agent} those of one agent, or a scope made on demand such as
         *     {@code a:}
         */
        record Full(long waiting, long most, String what) implements Answer {}

        record Never(String scope, String limit, long cost, long ceiling) implements Answer {}

        record Closed(String scope, String limit) implements Answer {}

        record Conflict() implements Answer {}

        record Ended(String state) implements Answer {}

        record Stale(String stamp) implements Answer {}

        record Lost(String what) implements Answer {}
    }

    /**
     * The end of a permit or of a wait.
     *
     * @param how settled, cancelled, throttled, or undone: nobody got it, as if never asked for; refused: it waited until
     *     its deadline
     * @param memo kept instead of the one of the {@link Ask}, or empty
     * @param keepUs of a refused one: how long its place is kept
     * @param used of each scope in the order of the ask; empty: the estimate stands
     */
    record Settlement(String project, PermitName permit, String how, String memo, long keepUs, List<ScopeCost> used) {}

    /** The answer to a {@link Settlement}. */
    sealed interface Settled {
        record Ended(String state, boolean already, String memo) implements Settled {}

        record Unknown() implements Settled {}

        record Lost(String what) implements Settled {}
    }

    /**
     * One beat.
     *
     * @param renew permits to keep alive, at most 500
     * @param claims ids that were granted in the line and start once this is answered, at most 64
     * @param looks ids in line to hear about, at most 64
     */
    record BeatAsk(String project, String host, List<PermitName> renew, List<String> claims, List<String> looks) {}

    /** The answer to a {@link BeatAsk}. */
    sealed interface Beat {
        /**
         * @param more work is left: beat again at once
         * @param nextUs until anything can start or is due, -1 if nobody knows
         * @param renewed for each permit in order whether it still lives
         * @param claims for each claim in order how it stands now
         * @param news of other ids of this host
         * @param looks for each look in order how it stands now
         */
        record Alive(
                String stamp,
                long nowUs,
                long hosts,
                boolean more,
                long nextUs,
                List<Boolean> renewed,
                List<Place> claims,
                List<News> news,
                List<Place> looks)
                implements Beat {}

        record Lost(String what) implements Beat {}
    }

    /** How an id of this host stands. */
    sealed interface Place {
        /** Claimed: it runs. */
        record Running(String nonce, long leaseUs, long nowUs, String memo) implements Place {}

        /** It stands in line; {@code queued} is told to looks only. */
        record InLine(@Nullable Queued queued) implements Place {}

        /** It was granted: claim it. */
        record ToClaim() implements Place {}

        /** It stands nowhere any more, or for another version of the policy: submit it again, its place is kept. */
        record ToSubmit() implements Place {}
    }

    /** Of one id: a {@link Place.ToClaim} or a {@link Place.ToSubmit}. */
    record News(String id, Place place) {}

    /**
     * @param held 0 for a new version; else the version of this document, to mend a project that lost its state
     * @param expected the version the caller has seen, or empty
     * @param digest of the content
     * @param document the policy as text
     * @param note who and when
     * @param shadow whether it admits everything and only records what it would have done
     * @param maxWaiters the most calls that may wait at a time
     * @param calendars where the windows of calendar limits begin and end; limits name them by place, from 1
     * @param scopes the project's first
     */
    record Installation(
            String project,
            long held,
            String expected,
            String digest,
            String document,
            String note,
            boolean shadow,
            int maxWaiters,
            List<String> calendars,
            List<ScopeLimits> scopes) {}

    /** The answer to an {@link Installation}. */
    sealed interface Installed {
        record Done(String stamp, boolean changed) implements Installed {}

        record Mismatch(String stamp) implements Installed {}

        /** The scope's removed limits are not paid back yet and leave no room. */
        record Full(String scope) implements Installed {}
    }

    /** The policy in force. */
    record StoredPolicy(String stamp, String document, List<Layout> layouts) {}

    /** The limits of one scope by position; a limit that is not active costs nothing. */
    record Layout(String scope, List<String> limits, List<Boolean> active) {}

    /** The version in a stamp. */
    static long version(String stamp) {
        return Long.parseLong(stamp.substring(0, stamp.indexOf(':')));
    }
}
