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

    /** Ends a permit. Repeating it is safe. */
    CompletionStage<Settled> settle(Settlement settlement);

    /** A host's sign of life: renews its leases. At most 500 permits. */
    CompletionStage<Beat> beat(String project, String host, List<PermitName> permits);

    /** Installs a policy, or mends a project with one. */
    CompletionStage<Installed> install(Installation installation);

    /** The policy in force, or {@code null} if none is installed. */
    CompletionStage<@Nullable StoredPolicy> policy(String project);

    /** Hears the project's hints ({@code free}, {@code policy}) until closed. They may be lost; never rely on one. */
    AutoCloseable listen(String project, Consumer<String> listener);

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
            List<ScopeCost> costs) {}

    /** The answer to an {@link Ask}. */
    sealed interface Answer {
        /** It runs. {@code again}: it ran already, granted to the same caller for the same body. */
        record Granted(String nonce, long leaseUs, long nowUs, String memo, boolean again) implements Answer {}

        /** Not now: perhaps in {@code waitUs}; {@code exactUs} of it is no estimate. */
        record Wait(long waitUs, long exactUs, String scope, String limit) implements Answer {}

        record Never(String scope, String limit, long cost, long ceiling) implements Answer {}

        record Closed(String scope, String limit) implements Answer {}

        record Conflict() implements Answer {}

        record Ended(String state) implements Answer {}

        record Stale(String stamp) implements Answer {}

        record Lost(String what) implements Answer {}
    }

    /**
     * @param how settled, cancelled, throttled, or undone: nobody got it, as if never granted
     * @param memo kept instead of the one of the {@link Ask}, or empty
     * @param used of each scope in the order of the ask; empty: the estimate stands
     */
    record Settlement(String project, PermitName permit, String how, String memo, List<ScopeCost> used) {}

    /** The answer to a {@link Settlement}. */
    sealed interface Settled {
        record Ended(String state, boolean already, String memo) implements Settled {}

        record Unknown() implements Settled {}

        record Lost(String what) implements Settled {}
    }

    /** The answer to a beat. */
    sealed interface Beat {
        /** {@code renewed} tells for each permit in order whether it still lives; {@code more}: beat again at once. */
        record Alive(String stamp, long nowUs, long hosts, boolean more, List<Boolean> renewed) implements Beat {}

        record Lost(String what) implements Beat {}
    }

    /**
     * @param held 0 for a new version; else the version of this document, to mend a project that lost its state
     * @param expected the version the caller has seen, or empty
     * @param digest of the content
     * @param document the policy as text
     * @param note who and when
     * @param shadow whether it admits everything and only records what it would have done
     * @param maxWaiters the most calls that may wait at a time
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
