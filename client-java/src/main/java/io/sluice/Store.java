package io.sluice;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
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
        Store open(String uri, Sluice.Options options);
    }

    /** Asks for everything a call needs, at once. Repeating it with the same id is safe. */
    CompletionStage<Answer> acquire(Ask ask);

    /** Ends a permit or a wait. Repeating it is safe. */
    CompletionStage<Settled> settle(Settlement settlement);

    /** A host's sign of life: renews its leases, claims what it was granted, looks after its waiters. */
    CompletionStage<Beat> beat(BeatAsk ask);

    /** Tells what the provider's answers taught: holds, readings of its limits, what calls use. Repeating it is safe. */
    CompletionStage<Observed> observe(Observations observations);

    /** The permit or the waiting call of an id, whoever asked for it. Changes nothing. */
    CompletionStage<Found> find(String project, String id);

    /** What was learned of each class's calls so far, by all hosts. */
    CompletionStage<List<Learned>> learned(String project);

    /** Installs a policy, or mends a project with one. */
    CompletionStage<Installed> install(Installation installation);

    /** The policy in force, or {@code null} if none is installed. */
    CompletionStage<@Nullable StoredPolicy> policy(String project);

    /**
     * Fails with what this client may not use of all that the project has in the store, so that this is known at the first use and not
     * half way through a call. False: that could not be found out now.
     */
    CompletionStage<Boolean> check(String project, String host);

    /** How many hosts were alive lately. */
    CompletionStage<Hosts> hosts(String project, String host);

    /**
     * Hosts that beat lately.
     *
     * @param count how many, the one that asks included
     * @param rank how many of their ids come before its own
     */
    record Hosts(long count, long rank) {}

    /**
     * Hears which ids of this host were granted in the line, until closed: hints to claim them. They may be lost; never
     * rely on one.
     */
    AutoCloseable listen(String project, String host, Consumer<List<String>> granted);

    /** What it keeps besides what decides. */
    Records records();

    /** Whether the current thread is one that must not block, because it delivers this store's replies. */
    boolean mustNotBlock();

    /** Who hears how long each script took, by its name, whatever came of it; one for the whole life of the store. */
    void timed(BiConsumer<String, Duration> times);

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
     * @param memo kept and given back, at most 2,048 bytes
     * @param flow whose share it draws on while calls wait
     * @param weight of the flow, 1 to 1,000,000
     * @param agent the worker, or {@code -}
     * @param names what else an operator can hold it by, a space between: {@code e:<team>} where the flow does not tell,
     *     {@code r:<run>}
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
            String names,
            long waitUs,
            List<ScopeCost> costs) {}

    /** Of {@link Shadow#waitUs}: it would have waited for ever. */
    long FOREVER = -1;

    /** Of {@link OnHold#leftUs}: until it is released. */
    long UNTIL_RELEASED = -1;

    /**
     * A scope that is on hold.
     *
     * @param leftUs until it lets calls in, {@link #UNTIL_RELEASED} if only a release ends it; 0: it does again, a few at first
     * @param kind what ran out, as {@link Rejection.Kind#label()}, or {@code operator}
     * @param retryable whether the same request can succeed when it is over
     * @param note the reason in words, or empty
     */
    record OnHold(String scope, long leftUs, String kind, boolean retryable, String note) {}

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

        /** A hold is in its way that ends later than it may wait. */
        record Hold(OnHold hold) implements Answer {}

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
     *     its deadline; withdrawn: its caller took back the wait; spent: it was given without Redis and has ended
     * @param memo kept instead of the one of the {@link Ask}, or empty; of an undone one the host that undoes it, or empty: whichever
     *     host has heard of it
     * @param keepUs of a refused one: how long its place is kept
     * @param stamp of a spent one: of the policy its costs stand by; else empty
     * @param used of each scope in the order of the ask; empty: the estimate stands
     */
    record Settlement(
            String project,
            PermitName permit,
            String how,
            String memo,
            long keepUs,
            String stamp,
            List<ScopeCost> used) {
        Settlement(String project, PermitName permit, String how, String memo, long keepUs, List<ScopeCost> used) {
            this(project, permit, how, memo, keepUs, "", used);
        }

        static Settlement spent(String project, PermitName permit, String memo, String stamp, List<ScopeCost> used) {
            return new Settlement(project, permit, "spent", memo, 0, stamp, used);
        }
    }

    /** The answer to a {@link Settlement}. */
    sealed interface Settled {
        record Ended(String state, boolean already, String memo) implements Settled {}

        record Unknown() implements Settled {}

        record Lost(String what) implements Settled {}
    }

    /** Who goes by an id. */
    sealed interface Found {
        /**
         * A permit that runs, or whose lease ran out within the hour.
         *
         * @param state granted, running or expired
         * @param agent the worker, or {@code -}
         * @param costs as it was asked for
         */
        record Live(
                String state,
                String digest,
                String nonce,
                String memo,
                String stamp,
                long grantedUs,
                long leaseUs,
                String agent,
                List<ScopeCost> costs)
                implements Found {}

        /** One that ended within 10 minutes: in which state, and with what memo. */
        record Gone(String state, String digest, String nonce, String memo) implements Found {}

        /** A call that stands in line. */
        record InLine(String digest, String nonce) implements Found {}

        record Nobody() implements Found {}

        record Lost(String what) implements Found {}
    }

    /**
     * One beat.
     *
     * @param renew permits to keep alive, at most 500
     * @param claims ids that were granted in the line and start once this is answered, at most 64
     * @param looks ids in line to hear about, at most 64
     * @param asserts permits that run and that Redis does not know, at most 64
     */
    record BeatAsk(
            String project,
            String host,
            List<PermitName> renew,
            List<String> claims,
            List<String> looks,
            List<Assertion> asserts) {}

    /**
     * A permit that runs and that Redis does not know: it lost what it knew, or was out when the permit was given. It gets its
     * slots again, even above a limit, and unless Redis was empty since, it is charged; both as an {@link Ask} would have it.
     */
    record Assertion(
            PermitName permit,
            String digest,
            String memo,
            String stamp,
            long leaseUs,
            String flow,
            int weight,
            String agent,
            List<ScopeCost> costs) {}

    /** What a renewal found. */
    enum Renewal {
        /** Its lease ran out or it ended: its slots belong to others now. */
        LOST,
        RENEWED,
        /** Nothing is known of it: {@link Assertion assert} it, if its lease still runs. */
        UNKNOWN
    }

    /** The answer to a {@link BeatAsk}. */
    sealed interface Beat {
        /**
         * @param more work is left: beat again at once
         * @param nextUs until anything can start or is due, -1 if nobody knows
         * @param renewed for each permit in order what became of it
         * @param claims for each claim in order how it stands now
         * @param news of other ids of this host
         * @param looks for each look in order how it stands now
         * @param holds all of the project
         * @param asserted for each assertion in order whether it holds its slots again
         */
        record Alive(
                String stamp,
                long nowUs,
                long hosts,
                boolean more,
                long nextUs,
                List<Renewal> renewed,
                List<Place> claims,
                List<News> news,
                List<Place> looks,
                List<OnHold> holds,
                List<Boolean> asserted)
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

    /** @param all at most 64, in order */
    record Observations(String project, String host, List<Observation> all) {
        public static final int MOST = 64;
    }

    /** One thing that a provider's answer taught, or that an operator wants. */
    sealed interface Observation {
        /** Of {@link Hold#waitUs}: nothing says how long. Then 1 s, doubled with each rejection that follows a reopening. */
        long NOT_STATED = -2;

        /** Of what a {@link Left} does not say. */
        long NOT_SAID = -1;

        /** Of an operator's observation: it is of no permit. */
        long OPERATOR = 0;

        /**
         * Lets nobody in, from the next call on.
         *
         * @param waitUs how long; {@link Store#UNTIL_RELEASED}, or {@link #NOT_STATED}
         * @param mostUs no longer than that, {@link Store#UNTIL_RELEASED} for as long as it takes
         * @param grantedUs when the rejected call was granted, by Redis's clock, or {@link #OPERATOR}
         */
        record Hold(String scope, long waitUs, long mostUs, String kind, boolean retryable, long grantedUs, String note)
                implements Observation {
            private static final long FIRST_US = 1_000_000;

            /** As whoever asks no Redis knows it: without what other rejections said. */
            OnHold asStated() {
                long stated = waitUs == NOT_STATED ? FIRST_US : waitUs;
                boolean clamps = mostUs != UNTIL_RELEASED && (stated == UNTIL_RELEASED || stated > mostUs);
                return new OnHold(scope, clamps ? mostUs : stated, kind, retryable, note);
            }
        }

        /** Ends the hold of a scope, {@code *} for all. */
        record Release(String scope) implements Observation {}

        /**
         * Traffic rose too fast: this part of the amounts is in force now, another in a while, and twice as much each minute
         * after. All zero: half of what was used lately. Of a call that was granted then: those of one rise count once.
         */
        record Slow(String scope, long nowPpm, long nextPpm, long nextInUs, long grantedUs) implements Observation {}

        /** A limit whose amount is found by trying was too high for a call that was granted then. */
        record Less(String scope, String limit, long grantedUs) implements Observation {}

        /**
         * What the provider says is left of a limit, in the limit's units.
         *
         * @param left what is left, or {@link #NOT_SAID}
         * @param step what {@code left} is rounded to
         * @param statedAmount what the limit is by the provider's word; 0 if it did not say or the policy has none
         * @param policyAmount what it is by the policy's
         * @param resetUs until it is full again, or {@link #NOT_SAID}
         * @param dateMs the provider's clock when it said so, or {@link #NOT_SAID}
         * @param ageUs how long ago it was heard
         */
        record Left(
                String scope,
                String limit,
                long left,
                long step,
                long statedAmount,
                long policyAmount,
                long resetUs,
                long dateMs,
                long ageUs)
                implements Observation {}

        /**
         * Sets what is left of a limit: an operator's order.
         *
         * @param toPpm in millionths of a unit of the limit's amount
         */
        record Level(String scope, String limit, long toPpm) implements Observation {}

        /**
         * What calls of one class and agent used.
         *
         * @param agent the worker, or {@code -}
         * @param bytes how long the requests were whose size is known in bytes and in tokens, and {@code bytesTokens} how many
         *     tokens that was
         * @param cached how many of {@code input} tokens came from the provider's cache
         * @param outputs how many answers had about so many tokens, at most {@link #MOST_OUTPUTS}
         */
        record Learn(
                String modelClass,
                String agent,
                long bytes,
                long bytesTokens,
                long cached,
                long input,
                List<Outputs> outputs)
                implements Observation {
            public static final int MOST_OUTPUTS = 128;

            /** Nothing is told; the answer is what is known. */
            public static Learn nothing(String modelClass, String agent) {
                return new Learn(modelClass, agent, 0, 0, 0, 0, List.of());
            }
        }

        /** That many answers had this many tokens of output, or a little less. */
        record Outputs(long tokens, long answers) {}
    }

    /** The answer to {@link Observations}. */
    sealed interface Observed {
        /** @param effects of each observation in order */
        record Done(long nowUs, String stamp, List<Effect> effects) implements Observed {}

        record Lost(String what) implements Observed {}
    }

    /** What an observation did. */
    sealed interface Effect {
        /** Of a hold: how long the scope is on hold now, {@link Store#UNTIL_RELEASED} until it is released. */
        record Holding(long leftUs) implements Effect {}

        /** Of a release, of a slow and of a less: whether anything is different now. */
        record Changed(boolean changed) implements Effect {}

        /** Of a level: what was left before, in millionths of a unit; {@code known}: there is such a limit. */
        record Corrected(boolean known, long before) implements Effect {}

        /** Of what is left; {@code drift}: the provider's limit is not the policy's. */
        record Tightened(boolean tightened, boolean drift, boolean adopted) implements Effect {}

        /** Of a learn: what is known now of the class and of its agent. */
        record Knows(Learned ofClass, Learned ofAgent) implements Effect {}
    }

    /**
     * What calls of a class, or of one agent in it, use.
     *
     * @param agent {@code -} for all of the class
     * @param samples how many answers that rests on; old ones count less and less
     * @param output 95 of 100 answers had at most so many tokens; 0 if none is known
     * @param tokensPerByte millionths of a token a byte of request, rounded up; 0 if not known
     * @param cachedShare millionths of the input that came from the provider's cache, rounded down
     */
    record Learned(String modelClass, String agent, long samples, long output, long tokensPerByte, long cachedShare) {}

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

    /** The life of the project in a stamp: another one after it was removed, or lost its state. */
    static String epoch(String stamp) {
        return stamp.substring(stamp.indexOf(':') + 1);
    }
}
