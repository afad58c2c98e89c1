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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** The permits this process holds in one project, and how they end. {@link Heart} keeps them alive. */
final class Held {
    private final String project;
    private final Tempo tempo;
    private final Endings endings;
    private final Map<String, LivePermit> permits = new ConcurrentHashMap<>();

    Held(String project, Tempo tempo, Endings endings) {
        this.project = project;
        this.tempo = tempo;
        this.endings = endings;
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
            tempo.renewWithin(permit.lease());
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
            if (--permit.callers > 0 || !permits.remove(permit.id(), permit) || !permit.ours || wanted) {
                return;
            }
        }
        endings.undo(permit.name);
    }

    /** In parts of at most {@code size}. */
    List<List<LivePermit>> parts(int size) {
        List<LivePermit> all = List.copyOf(permits.values());
        List<List<LivePermit>> parts = new ArrayList<>();
        for (int from = 0; from < all.size(); from += size) {
            parts.add(all.subList(from, Math.min(from + size, all.size())));
        }
        return parts;
    }

    /** The lease that runs out first, or {@code otherwise} if none is held. */
    Duration shortestLease(Duration otherwise) {
        return permits.values().stream()
                .map(LivePermit::lease)
                .min(Duration::compareTo)
                .orElse(otherwise);
    }

    /** Its lease could not be renewed: its slot belongs to others now. */
    void lost(LivePermit permit) {
        if (permits.remove(permit.id(), permit) && !permit.isEnded()) {
            permit.lost();
        }
    }

    CompletionStage<Ending> end(LivePermit permit, How how, Reserved used) {
        List<ScopeCost> costs = how == How.CANCELLED ? List.of() : permit.costsOf(how, used);
        String label = how.name().toLowerCase(Locale.ROOT);
        CompletionStage<Settled> ended =
                endings.end(new Settlement(project, permit.name, label, Memo.of(used), 0, costs));
        permits.remove(permit.id(), permit);
        return ended.thenApply(settled -> ending(settled, used));
    }

    /** Whether it is held here, or its end is on its way. */
    boolean knows(PermitName name) {
        LivePermit held = permits.get(name.id());
        return (held != null && held.name.equals(name)) || endings.ends(name);
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
