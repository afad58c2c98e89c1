package io.sluice;

import io.sluice.Permit.Ending;
import io.sluice.Permit.How;
import io.sluice.Permit.Reserved;
import io.sluice.Store.PermitName;
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
import org.jspecify.annotations.Nullable;

/** The permits this process holds in one project, and how they end. {@link Heart} keeps them alive. */
final class Held {
    private static final Reserved NOTHING = new Reserved(0, 0, 0, 0, 0);

    private final Tempo tempo;
    private final Endings endings;
    private final LocalBudget budget;
    private final Map<String, LivePermit> permits = new ConcurrentHashMap<>();

    /** Those that were given without Redis to a caller's own id. */
    private final Map<String, LivePermit> givenHere = new ConcurrentHashMap<>();

    Held(Tempo tempo, Endings endings, LocalBudget budget) {
        this.tempo = tempo;
        this.endings = endings;
        this.budget = budget;
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
            LivePermit held = permits.get(granted.name.id());
            LivePermit permit = held != null && held.name.equals(granted.name) ? held : granted;
            if (permit.callers == 0 && permit.policy().outage() == Policy.Outage.LOCAL_SHARE) {
                permit.grant = budget.take(permit.call(), true);
            }
            permit.callers++;
            permit.ours |= ours;
            permits.put(permit.name.id(), permit);
            tempo.renewWithin(permit.lease());
            return permit;
        }
    }

    /** Keeps one that was given without Redis. */
    void give(LivePermit permit) {
        synchronized (permits) {
            permits.put(permit.name.id(), permit);
            if (!permit.id().equals(permit.name.id())) {
                givenHere.put(permit.id(), permit);
            }
        }
    }

    /** The permit that runs under a caller's id and was given without Redis, if there is one; for one caller more. */
    @Nullable
    LivePermit givenHere(String id, String digest) {
        synchronized (permits) {
            LivePermit permit = givenHere.get(id);
            if (permit == null || !permit.digest().equals(digest)) {
                return null;
            }
            permit.callers++;
            return permit;
        }
    }

    /**
     * One caller gave up before it got the permit. If it was the last one nothing was sent: as if never granted.
     *
     * @param wanted whether somebody else still asks for it
     */
    void leave(LivePermit permit, boolean wanted) {
        synchronized (permits) {
            if (--permit.callers > 0 || !forget(permit) || (!permit.degraded() && (!permit.ours || wanted))) {
                return;
            }
        }
        if (permit.degraded()) {
            permit.cancelAsync();
            return;
        }
        budget.ended(permit.grant, permit.costsOf(How.CANCELLED, NOTHING));
        endings.undo(permit.name);
    }

    /** Those whose owners, in this process, have not ended them. */
    List<LivePermit> open() {
        return permits.values().stream()
                .filter(permit -> !permit.ofDesk && !permit.end.isAsked())
                .toList();
    }

    /** In parts of at most {@code size}. */
    List<List<LivePermit>> parts(int size) {
        List<LivePermit> all =
                permits.values().stream().filter(LivePermit::isRenewedHere).toList();
        List<List<LivePermit>> parts = new ArrayList<>();
        for (int from = 0; from < all.size(); from += size) {
            parts.add(all.subList(from, Math.min(from + size, all.size())));
        }
        return parts;
    }

    /** The lease that runs out first, or {@code otherwise} if none is held. */
    Duration shortestLease(Duration otherwise) {
        return permits.values().stream()
                .filter(permit -> !permit.ofDesk)
                .map(LivePermit::lease)
                .min(Duration::compareTo)
                .orElse(otherwise);
    }

    /** Its lease could not be renewed: its slot belongs to others now. */
    void lost(LivePermit permit) {
        if (forget(permit)) {
            budget.ended(permit.grant, null);
            if (!permit.end.isAsked()) {
                permit.lost();
            }
        }
    }

    /** A permit of the desk, of which this process need know no more: another may keep it alive. */
    void leavesHere(LivePermit permit) {
        forget(permit);
        budget.ended(permit.grant, null);
    }

    private boolean forget(LivePermit permit) {
        givenHere.remove(permit.id(), permit);
        return permits.remove(permit.name.id(), permit);
    }

    CompletionStage<Ending> end(LivePermit permit, How how, Reserved used) {
        budget.ended(permit.grant, permit.costsOf(how, how == How.CANCELLED ? NOTHING : used));
        CompletionStage<Ending> ended = permit.degraded() ? endHere(permit, how, used) : endInRedis(permit, how, used);
        forget(permit);
        return ended;
    }

    private CompletionStage<Ending> endInRedis(LivePermit permit, How how, Reserved used) {
        CompletionStage<Ending> ended = endings.end(
                        permit.settlement(how, used), settled -> heardLate(permit, settled, used))
                .thenApply(settled -> ending(permit, settled, used));
        if (permit.policy().outage() == Policy.Outage.FAIL_CLOSED) {
            return ended;
        }
        // Who rides out an outage does not stumble over the end of a call that went well: it is told until Redis has
        // heard.
        return ended.exceptionallyCompose(
                e -> Blocking.cause(e) instanceof OutageException outage && OutageRule.concerns(outage.reason())
                        ? CompletableFuture.completedStage(
                                new Ending(how, false, permit.call().booked(used)))
                        : CompletableFuture.failedStage(e));
    }

    /** Ends one of which this process knows the name only. */
    CompletionStage<Ending> end(Settlement settlement) {
        return endings.end(settlement, late -> {}).thenApply(settled -> ending(settled, NOTHING));
    }

    /** Of a permit whose caller was told that Redis did not answer; who rode it out was told of an end, and that is counted. */
    private static void heardLate(LivePermit permit, Settled settled, Reserved used) {
        if (permit.policy().outage() == Policy.Outage.FAIL_CLOSED && !(settled instanceof Settled.Lost)) {
            permit.end.late(ending(permit, settled, used));
        }
    }

    /** What was given without Redis ends without Redis; it is told of it. */
    private CompletionStage<Ending> endHere(LivePermit permit, How how, Reserved used) {
        boolean nothingSent = how == How.CANCELLED;
        Settlement known = permit.mayBeInRedis() ? permit.settlement(how, used) : null;
        if (known != null || !nothingSent) {
            endings.tell(permit.name, known, () -> nothingSent ? null : permit.spent(used));
        }
        return CompletableFuture.completedStage(
                new Ending(how, false, permit.call().booked(used)));
    }

    /** Whether it is held here, or its end is on its way. */
    boolean knows(PermitName name) {
        LivePermit held = permits.get(name.id());
        return (held != null && held.name.equals(name)) || endings.ends(name);
    }

    private static Ending ending(LivePermit permit, Settled settled, Reserved used) {
        permit.end.bookedLate =
                settled instanceof Settled.Ended ended && ended.state().equals("booked");
        return ending(settled, used);
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
}
