package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Answer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import org.jspecify.annotations.Nullable;

/** One call on its way to a permit: from asking to granted, refused or given up. */
final class Waiter {
    final Call call;
    final Store.PermitName name;
    final String digest;
    final long startedNs;
    final long deadlineNs;

    /** Whether the caller asked not to wait at all. */
    final boolean once;

    /** Completes on the store's threads: only our own code may depend on it directly. */
    final CompletableFuture<LivePermit> result = new CompletableFuture<>();

    /** Why it waits, once it does. */
    volatile Answer.@Nullable Wait why;

    /** Against which version it asked last, once it did. */
    volatile @Nullable Resolved resolved;

    @Nullable
    ScheduledFuture<?> deadline;

    /** The class in whose line it stands; {@link Line} writes it. */
    volatile @Nullable String place;

    /** Asked, timed out, asked again with the same id. */
    int unanswered;

    int retries;

    /** {@link Line#wakes} as it asked last. */
    volatile long askedAtWake;

    Waiter(Call call, Store.PermitName name, String digest, long startedNs, long deadlineNs, boolean once) {
        this.call = call;
        this.name = name;
        this.digest = digest;
        this.startedNs = startedNs;
        this.deadlineNs = deadlineNs;
        this.once = once;
    }

    private boolean asking;
    private boolean again;

    /** Whether to send the question now: one at a time. Another one asked for meanwhile is sent after the answer. */
    synchronized boolean beginAsking() {
        again = asking;
        boolean mayAsk = !asking;
        asking = true;
        return mayAsk;
    }

    /** @return whether somebody wanted to ask meanwhile: the answer may rest on an older state */
    synchronized boolean endAsking() {
        asking = false;
        return again;
    }

    Duration waited(long nowNs) {
        return Duration.ofNanos(Math.max(0, nowNs - startedNs));
    }

    boolean isDone() {
        return result.isDone();
    }
}
