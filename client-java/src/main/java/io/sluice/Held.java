package io.sluice;

import io.sluice.Permit.Ending;
import io.sluice.Permit.How;
import io.sluice.Permit.Reserved;
import io.sluice.Store.PermitName;
import io.sluice.Store.ScopeCost;
import io.sluice.Store.Settled;
import io.sluice.Store.Settlement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The permits this process holds in one project: renews them, ends them, and does not forget an ending that Redis did not
 * hear. A third of a lease is one beat; a beat is one script for up to 500 permits.
 */
final class Held {
    private static final Logger log = LoggerFactory.getLogger(Held.class);
    private static final int BATCH = 500;
    private static final int TRIES = 3;
    private static final int BACKLOG = 10_000;
    private static final long SHORTEST_BEAT_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final Duration LEASE_WHILE_IDLE = Duration.ofSeconds(30);

    private static final Duration LEASE_AFTER_SILENCE = Duration.ofMillis(600);

    /** Something that Redis did not hear is told again three times a second. */
    private static final Duration LEASE_WHILE_UNHEARD = Duration.ofSeconds(1);

    private final SluiceClient client;
    private final String project;
    private final PolicyCache policies;
    private final Map<String, LivePermit> permits = new ConcurrentHashMap<>();

    /** Endings that Redis has not confirmed, by id. Repeating one is safe, and each is kept for an hour at most. */
    private final Map<String, Unheard> backlog = new ConcurrentHashMap<>();

    private final AtomicInteger endings = new AtomicInteger();
    private @Nullable ScheduledFuture<?> beat;
    private long nextBeatNs;
    private boolean closed;

    /** {@code undo}: nobody ever got the permit. */
    private record Unheard(Settlement settlement, boolean undo, long untilNs) {}

    Held(SluiceClient client, String project, PolicyCache policies) {
        this.client = client;
        this.project = project;
        this.policies = policies;
    }

    int size() {
        return permits.size();
    }

    /**
     * Keeps a permit alive for one caller more. If this id is held already, that is the permit.
     *
     * @param ours whether it was granted to a question of this client
     */
    LivePermit take(LivePermit granted, boolean ours) {
        synchronized (permits) {
            LivePermit held = permits.get(granted.id());
            LivePermit permit = held != null && held.name.equals(granted.name) ? held : granted;
            permit.callers++;
            permit.ours |= ours;
            permits.put(permit.id(), permit);
            beatWithin(permit.lease());
            return permit;
        }
    }

    /** One caller gave up before it got the permit. If it was the last one nothing was sent: as if never granted. */
    void leave(LivePermit permit) {
        synchronized (permits) {
            if (--permit.callers > 0 || !permits.remove(permit.id(), permit) || !permit.ours) {
                return;
            }
        }
        endings.incrementAndGet();
        send(undoing(permit.name), 1).whenComplete((settled, e) -> {
            endings.decrementAndGet();
            if (e != null) {
                undo(permit.name);
            }
        });
    }

    /**
     * What to ask for under a caller's id. If an earlier question with this id got no answer, it is the same permit that
     * is wanted now: it must not be undone any more.
     */
    PermitName nameFor(String id) {
        Unheard unheard = backlog.get(id);
        if (unheard != null && unheard.undo() && backlog.remove(id, unheard)) {
            return unheard.settlement().permit();
        }
        return new PermitName(id, RandomIds.next());
    }

    /** Asked for, never answered, no longer wanted: whatever Redis granted comes back. */
    void undo(PermitName name) {
        remember(undoing(name), true);
    }

    private Settlement undoing(PermitName name) {
        return new Settlement(project, name, "undone", "", List.of());
    }

    CompletionStage<Ending> end(LivePermit permit, How how, Reserved used) {
        permits.remove(permit.id(), permit);
        List<ScopeCost> costs = how == How.CANCELLED ? List.of() : permit.costsOf(used);
        Settlement settlement =
                new Settlement(project, permit.name, how.name().toLowerCase(Locale.ROOT), Memo.of(used), costs);
        endings.incrementAndGet();
        return send(settlement, 1)
                .whenComplete((ending, e) -> {
                    endings.decrementAndGet();
                    if (e != null) {
                        remember(settlement, false);
                    }
                })
                .thenApply(settled -> ending(settled, used));
    }

    private CompletionStage<Settled> send(Settlement settlement, int attempt) {
        long sent = System.nanoTime();
        return client.store
                .settle(settlement)
                .whenComplete((s, e) -> client.meters.script("settle", Duration.ofNanos(System.nanoTime() - sent)))
                .exceptionallyCompose(e -> attempt < TRIES && isTimeout(e)
                        ? send(settlement, attempt + 1)
                        : CompletableFuture.failedStage(Blocking.cause(e)));
    }

    private static boolean isTimeout(Throwable e) {
        return Blocking.cause(e) instanceof OutageException outage
                && outage.reason().equals("timeout");
    }

    private static Ending ending(Settled settled, Reserved used) {
        if (settled instanceof Settled.Ended ended) {
            // Booked late: the lease had ended it, and its usage counts all the same.
            How how = ended.state().equals("booked")
                    ? How.EXPIRED
                    : How.valueOf(ended.state().toUpperCase(Locale.ROOT));
            return new Ending(how, ended.already(), Memo.read(ended.memo()));
        }
        if (settled instanceof Settled.Unknown) {
            return new Ending(How.UNKNOWN, true, new Reserved(0, 0, 0, 0, 0));
        }
        throw new OutageException("lost_state", "the project lost its state before " + used + " could be booked", null);
    }

    private void remember(Settlement settlement, boolean undo) {
        if (backlog.size() >= BACKLOG) {
            log.error("{}: more than {} endings that Redis did not hear; dropped one", project, BACKLOG);
            return;
        }
        long until = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
        backlog.put(settlement.permit().id(), new Unheard(settlement, undo, until));
        beatWithin(LEASE_WHILE_UNHEARD);
    }

    /** Beats a third of the lease from now at the latest, and from then on a third of the shortest lease held. */
    private synchronized void beatWithin(Duration lease) {
        long next = System.nanoTime() + Math.max(lease.toNanos() / 3, SHORTEST_BEAT_NS);
        if (closed || (beat != null && next - nextBeatNs >= 0)) {
            return;
        }
        if (beat != null) {
            beat.cancel(false);
        }
        nextBeatNs = next;
        beat = client.timer.schedule(this::beatNow, next - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    private void beatNow() {
        synchronized (this) {
            beat = null;
        }
        Duration idle = backlog.isEmpty() ? LEASE_WHILE_IDLE : LEASE_WHILE_UNHEARD;
        beatWithin(permits.values().stream()
                .map(LivePermit::lease)
                .min(Duration::compareTo)
                .orElse(idle));
        beat();
    }

    private void beat() {
        backlog.forEach((id, unheard) -> {
            if (System.nanoTime() - unheard.untilNs() > 0) {
                backlog.remove(id, unheard);
            } else {
                client.store.settle(unheard.settlement()).thenAccept(settled -> backlog.remove(id, unheard));
            }
        });
        List<LivePermit> all = List.copyOf(permits.values());
        for (int from = 0; from == 0 || from < all.size(); from += BATCH) {
            beat(all.subList(from, Math.min(from + BATCH, all.size())));
        }
    }

    private void beat(List<LivePermit> batch) {
        List<PermitName> names = new ArrayList<>(batch.size());
        batch.forEach(permit -> names.add(permit.name));
        client.store.beat(project, client.host, names).whenComplete((answer, e) -> {
            if (answer instanceof Store.Beat.Alive alive) {
                policies.heard(alive.stamp());
                for (int i = 0; i < batch.size(); i++) {
                    LivePermit permit = batch.get(i);
                    if (!alive.renewed().get(i) && permits.remove(permit.id(), permit) && !permit.isEnded()) {
                        permit.lost();
                    }
                }
                if (alive.more()) {
                    beat(List.of());
                }
            } else if (e != null) {
                log.debug("{}: no beat: {}", project, Blocking.cause(e).getMessage());
                // Two beats missed in a row would be a short lease lost.
                beatWithin(LEASE_AFTER_SILENCE);
            }
        });
    }

    /** Completes when the endings under way have arrived. */
    CompletableFuture<Void> close() {
        synchronized (this) {
            closed = true;
            if (beat != null) {
                beat.cancel(false);
            }
        }
        if (!permits.isEmpty() || !backlog.isEmpty()) {
            beat();
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        waitForEndings(done);
        return done;
    }

    private void waitForEndings(CompletableFuture<Void> done) {
        if (endings.get() == 0) {
            done.complete(null);
        } else if (!client.timer.isShutdown()) {
            client.timer.schedule(() -> waitForEndings(done), 5, TimeUnit.MILLISECONDS);
        }
    }
}
