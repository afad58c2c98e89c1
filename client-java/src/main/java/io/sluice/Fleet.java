package io.sluice;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How many hosts share a project and where this one stands among them, asked every ten seconds (sooner at first) while the project
 * is used here. Each time it beats as well, so that who counts others is counted by them: a host has a share exactly while others leave
 * it one.
 */
final class Fleet {
    private static final long EVERY_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long FIRST_NS = TimeUnit.MILLISECONDS.toNanos(250);

    /** Whoever has not called for so long is not counted any more. */
    static final long USED_NS = TimeUnit.MINUTES.toNanos(10);

    /** A count this much older than the outage says nothing about it; others count a host for as long after its last beat. */
    static final long FRESH_NS = TimeUnit.SECONDS.toNanos(60);

    private final Store store;
    private final String host;
    private final String project;
    private final ScheduledExecutorService timer;
    private final PolicyCache policies;
    private final Runnable beat;
    private final LongSupplier nanoTime;

    private volatile long usedAt;
    private volatile boolean asking;
    private volatile boolean closed;
    private @Nullable Seen seen;

    /** When asking began to fail; {@code null} while it does not. */
    private @Nullable Long failsSince;

    private volatile long every = FIRST_NS;

    private record Seen(Share share, long atNs) {}

    Fleet(
            Store store,
            String host,
            String project,
            ScheduledExecutorService timer,
            PolicyCache policies,
            Runnable beat,
            LongSupplier nanoTime) {
        this.store = store;
        this.host = host;
        this.project = project;
        this.timer = timer;
        this.policies = policies;
        this.beat = beat;
        this.nanoTime = nanoTime;
        this.usedAt = nanoTime.getAsLong();
    }

    /** A call of this project is made here. */
    void used() {
        usedAt = nanoTime.getAsLong();
        if (!asking && !closed) {
            start();
        }
    }

    private synchronized void start() {
        if (!asking) {
            asking = true;
            every = FIRST_NS;
            ask();
        }
    }

    /** What this host may use now without Redis. */
    synchronized Share share() {
        if (seen == null) {
            return Share.NONE;
        }
        long until = failsSince == null ? nanoTime.getAsLong() : failsSince;
        return until - seen.atNs > FRESH_NS ? Share.NONE : seen.share;
    }

    void close() {
        closed = true;
    }

    private void ask() {
        if (closed || nanoTime.getAsLong() - usedAt > USED_NS) {
            asking = false;
            return;
        }
        PolicyView view = policies.cached();
        if (view != null && view.policy.outage() != Policy.Outage.LOCAL_SHARE) {
            later(EVERY_NS);
            return;
        }
        beat.run();
        long asked = nanoTime.getAsLong();
        hosts().whenComplete((hosts, e) -> {
            heard(hosts, asked);
            every = Math.min(EVERY_NS, every * 2);
            later(every);
        });
    }

    private CompletionStage<Store.@Nullable Hosts> hosts() {
        try {
            return store.hosts(project, host).handle((hosts, e) -> hosts);
        } catch (RuntimeException e) {
            return CompletableFuture.completedStage(null);
        }
    }

    private synchronized void heard(Store.@Nullable Hosts hosts, long askedNs) {
        if (hosts != null) {
            seen = new Seen(new Share(hosts.count(), hosts.rank()), askedNs);
            failsSince = null;
        } else if (failsSince == null) {
            failsSince = askedNs;
        }
    }

    private void later(long ns) {
        if (!timer.isShutdown() && !closed) {
            timer.schedule(this::ask, ns, TimeUnit.NANOSECONDS);
        }
    }
}
