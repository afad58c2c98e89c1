package io.sluice;

import io.sluice.Store.StoredPolicy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The policy a project's calls are resolved against. Read once, and again when a script said that it moved on; many calls
 * that notice at the same time share one read. If it turns out to be gone, it is put back: whoever asks.
 */
final class PolicyCache {
    private final Store store;
    private final String project;
    private final LongSupplier nanoTime;

    /** Puts back what is known here and lost there; whether it must be read again then. */
    private final BiFunction<PolicyView, @Nullable StoredPolicy, CompletionStage<Boolean>> mends;

    /** Told of every version but the first. */
    private final Consumer<PolicyView> moved;

    private @Nullable PolicyView view;
    private long readAt;
    private @Nullable CompletableFuture<PolicyView> reading;
    private long readingSince;
    private @Nullable CompletableFuture<PolicyView> next;

    PolicyCache(
            Store store,
            String project,
            LongSupplier nanoTime,
            BiFunction<PolicyView, @Nullable StoredPolicy, CompletionStage<Boolean>> mends,
            Consumer<PolicyView> moved) {
        this.store = store;
        this.project = project;
        this.nanoTime = nanoTime;
        this.mends = mends;
        this.moved = moved;
    }

    synchronized CompletionStage<PolicyView> current() {
        return view == null ? read() : CompletableFuture.completedStage(view);
    }

    /** A view that is not {@code stale}: the cached one if it is another already. */
    synchronized CompletionStage<PolicyView> after(PolicyView stale) {
        return view == null || view == stale ? read() : CompletableFuture.completedStage(view);
    }

    /** A view that is not older than {@code maxAgeNanos}. */
    synchronized CompletionStage<PolicyView> youngerThan(long maxAgeNanos) {
        return view == null || nanoTime.getAsLong() - readAt > maxAgeNanos
                ? readSince(nanoTime.getAsLong() - maxAgeNanos)
                : CompletableFuture.completedStage(view);
    }

    /** Reads in the background if another version than ours is in force. */
    synchronized void heard(String stamp) {
        if (view != null && !view.stamp.equals(stamp)) {
            read();
        }
    }

    synchronized @Nullable PolicyView cached() {
        return view;
    }

    private CompletableFuture<PolicyView> read() {
        return reading == null ? start() : reading;
    }

    /** One that was asked for at that instant or later: a read under way may have seen an older policy. */
    private CompletableFuture<PolicyView> readSince(long instant) {
        if (reading == null) {
            return start();
        }
        if (readingSince - instant >= 0) {
            return reading;
        }
        if (next == null) {
            next = reading.handle((view, e) -> e).thenCompose(ignored -> startNext());
        }
        return next;
    }

    private synchronized CompletableFuture<PolicyView> startNext() {
        next = null;
        return reading == null ? start() : reading;
    }

    private CompletableFuture<PolicyView> start() {
        CompletableFuture<PolicyView> mine = new CompletableFuture<>();
        reading = mine;
        long asked = nanoTime.getAsLong();
        readingSince = asked;
        stored(view).whenComplete((stored, e) -> {
            try {
                if (e != null) {
                    String reason = Blocking.cause(e) instanceof OutageException outage ? outage.reason() : "policy";
                    throw new OutageException(
                            reason, String.valueOf(Blocking.cause(e).getMessage()), e);
                }
                if (stored == null) {
                    throw new OutageException("no_project", noProject(project), null);
                }
                done(mine, new PolicyView(project, stored), asked);
            } catch (RuntimeException failure) {
                failed(mine, e == null ? failure : Blocking.cause(e));
            }
        });
        return mine;
    }

    private CompletionStage<@Nullable StoredPolicy> stored(@Nullable PolicyView known) {
        CompletionStage<@Nullable StoredPolicy> stored = store.policy(project);
        return known == null
                ? stored
                : stored.thenCompose(there -> mends.apply(known, there)
                        .thenCompose(again -> again ? store.policy(project) : CompletableFuture.completedStage(there)));
    }

    private void done(CompletableFuture<PolicyView> mine, PolicyView read, long asked) {
        PolicyView before;
        synchronized (this) {
            before = view;
            view = read;
            readAt = asked;
            reading = null;
        }
        mine.complete(read);
        if (before != null && !before.stamp.equals(read.stamp)) {
            moved.accept(read);
        }
    }

    private void failed(CompletableFuture<PolicyView> mine, Throwable e) {
        synchronized (this) {
            reading = null;
        }
        mine.completeExceptionally(e);
    }

    static String noProject(String project) {
        return "project " + project + " is not installed in this Redis: install a policy for it with"
                + " sluice.install(policy) or ./sluice policy apply FILE --redis URI";
    }
}
