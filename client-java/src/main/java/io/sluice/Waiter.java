package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Queued;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One call on its way to a permit: from asking, perhaps by standing in line, to granted, refused or given up. */
final class Waiter {
    private static final long NOTICEABLE_US = 1_000_000;
    private static final long FOREVER_NS = Long.MAX_VALUE / 4;

    /**
     * A question is under way; it stands in Redis's line; it stands in this process's; Redis knows nothing of it, or nothing that
     * still matters.
     */
    enum State {
        ASKING,
        STANDING,
        HERE,
        APART
    }

    final Call call;
    final Store.PermitName name;
    final String digest;
    final long startedNs;
    final long deadlineNs;

    /** Whether the caller asked not to wait at all. */
    final boolean once;

    /** What it has besides where it asks at the desk, else {@code null}. */
    final @Nullable Ticket ticket;

    /** Completes on the store's threads: only our own code may depend on it directly. */
    final CompletableFuture<LivePermit> result = new CompletableFuture<>();

    /** The same once everything is done that its end entails: for callers. */
    final CompletableFuture<LivePermit> outcome;

    final AtomicReference<State> state = new AtomicReference<>(State.APART);

    /** Why it waits, as Redis said last; {@code null} until it does. */
    volatile @Nullable Queued why;

    /** Against which version it asked last, once it did. */
    volatile @Nullable Resolved resolved;

    /** Where it stands, or stood, in this process's line. {@link LocalLine} guards it. */
    LocalLine.@Nullable Place place;

    /** Redis may hold a place or a permit under its name that nobody has given back. */
    volatile boolean owed;

    final AtomicBoolean returned = new AtomicBoolean();

    private @Nullable ScheduledFuture<?> deadline;

    /** What its listener was told last, and when. */
    private @Nullable Queued told;

    private long toldNs;

    /** Asked, timed out, asked again with the same id. */
    int unanswered;

    /** How often it met a slow reply that was no outage, since Redis answered it. */
    int chances;

    int retries;

    Waiter(
            Call call,
            Store.PermitName name,
            String digest,
            long startedNs,
            Duration maxWait,
            boolean once,
            @Nullable Ticket ticket,
            Ended ended) {
        this.call = call;
        this.name = name;
        this.digest = digest;
        this.startedNs = startedNs;
        this.deadlineNs = startedNs + saturated(maxWait);
        this.once = once;
        this.ticket = ticket;
        this.outcome = result.whenComplete((permit, e) -> ended.with(this, permit, e));
    }

    interface Ended {
        void with(Waiter waiter, @Nullable LivePermit permit, @Nullable Throwable e);
    }

    /** How long it may still wait, by its caller's word and the policy's. */
    long leftNs(Policy policy, long nowNs) {
        return Math.min(deadlineNs - nowNs, saturated(policy.maxWait()) - (nowNs - startedNs));
    }

    /** How long its permit lives without renewal. */
    long leaseUs(PolicyView view) {
        return ticket == null || ticket.lease() == null
                ? view.leaseUs()
                : TimeUnit.NANOSECONDS.toMicros(ticket.lease().toNanos());
    }

    /** What its record in Redis keeps for us. */
    String memo(Resolved asked) {
        return ticket == null ? Memo.of(asked.estimate()) : Memo.of(asked.estimate(), call);
    }

    /** "For ever" is no deadline, and must not overflow into one that has passed (resilience4j/resilience4j#1701). */
    private static long saturated(Duration duration) {
        return duration.compareTo(Duration.ofNanos(FOREVER_NS)) >= 0 ? FOREVER_NS : duration.toNanos();
    }

    /** From now on this ends its wait; {@code null}: nothing does. */
    synchronized void endsBy(@Nullable ScheduledFuture<?> next) {
        if (deadline != null) {
            deadline.cancel(false);
        }
        deadline = next;
        if (next != null && isDone()) {
            next.cancel(false);
        }
    }

    /** It waits for that reason. Whether this is worth telling: another limit or place, or a wait that did not just pass. */
    synchronized boolean waits(Queued queued, long nowNs) {
        why = queued;
        boolean news = told == null || isNews(queued, told, TimeUnit.NANOSECONDS.toMicros(nowNs - toldNs));
        if (news) {
            told = queued;
            toldNs = nowNs;
        }
        return news;
    }

    private static boolean isNews(Queued now, Queued then, long passedUs) {
        long expected = Math.max(0, then.waitUs() - passedUs);
        long tolerated = Math.max(NOTICEABLE_US, expected / 4);
        return now.position() != then.position()
                || !now.limit().equals(then.limit())
                || !now.scope().equals(then.scope())
                || Math.abs(now.waitUs() - expected) > tolerated;
    }

    Duration waited(long nowNs) {
        return Duration.ofNanos(Math.max(0, nowNs - startedNs));
    }

    /** As what it asked last. */
    Resolved asked() {
        return Objects.requireNonNull(resolved);
    }

    /** Why it was refused, if it was. */
    @Nullable
    Refusal refusal() {
        if (!result.isCompletedExceptionally()) {
            return null;
        }
        Throwable thrown = result.handle((permit, e) -> e).join();
        return Blocking.cause(thrown) instanceof RefusedException refused ? refused.refusal() : null;
    }

    /** Whether an outage of this reason ended it. */
    boolean endedBy(String reason) {
        return result.isCompletedExceptionally()
                && Blocking.cause(result.handle((permit, e) -> e).join()) instanceof OutageException outage
                && outage.reason().equals(reason);
    }

    boolean isDone() {
        return result.isDone();
    }
}
