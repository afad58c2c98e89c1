package io.sluice;

import io.sluice.Permit.How;
import io.sluice.Permit.Reserved;
import io.sluice.Store.PermitName;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The permits that the desk of one project handed out in this process, while their leases run as far as is known here. Nothing
 * depends on it but what was given without Redis: any other is found in Redis too. It saves asking, and tells what somebody has
 * from what nobody got.
 */
final class Handed {
    private static final Reserved NOTHING = new Reserved(0, 0, 0, 0, 0);
    private static final long SWEEP_MS = 500;

    /** A holder that asks again does so soon; Redis knows of a lost lease for an hour. */
    private static final int MOST_LOST = 10_000;

    private final Held held;
    private final Endings endings;
    private final LocalBudget budget;
    private final ScheduledExecutorService timer;
    private final LongSupplier nanoTime;
    private final Map<String, LivePermit> permits = new ConcurrentHashMap<>();
    private final AtomicBoolean sweeps = new AtomicBoolean();

    /** The last whose loss was told here. */
    private final Set<PermitName> lost = Collections.synchronizedSet(Collections.newSetFromMap(new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<PermitName, Boolean> eldest) {
            return size() > MOST_LOST;
        }
    }));

    Handed(Held held, Endings endings, LocalBudget budget, ScheduledExecutorService timer, LongSupplier nanoTime) {
        this.held = held;
        this.endings = endings;
        this.budget = budget;
        this.timer = timer;
        this.nanoTime = nanoTime;
    }

    int size() {
        return permits.size();
    }

    /**
     * One caller more has it, or will. If it is known already, that is the permit.
     *
     * @param ours whether it was granted to a question of this client
     */
    LivePermit take(LivePermit granted, boolean ours) {
        LivePermit permit;
        synchronized (permits) {
            LivePermit known = get(granted.name);
            permit = known == null ? granted : known;
            if (known == null) {
                if (!permit.degraded() && permit.policy().outage() == Policy.Outage.LOCAL_SHARE) {
                    permit.grant = budget.take(permit.call(), true);
                }
                permits.put(permit.name.id(), permit);
            }
            permit.callers++;
            permit.ours |= ours;
        }
        sweepLater();
        return permit;
    }

    /** The one of this name, or {@code null}. */
    @Nullable
    LivePermit get(PermitName name) {
        LivePermit permit = permits.get(name.id());
        return permit != null && permit.name.equals(name) ? permit : null;
    }

    /**
     * One caller gave up before it got the permit. If nobody has it nothing was sent: as if never granted.
     *
     * @param wanted whether somebody else still asks for it
     */
    void leave(LivePermit permit, boolean wanted) {
        synchronized (permits) {
            if (--permit.callers > 0 || !forget(permit) || !permit.ours || wanted) {
                return;
            }
        }
        budget.ended(permit.grant, permit.costsOf(How.CANCELLED, NOTHING));
        endings.undo(permit.name);
    }

    /** It has ended, or belongs to others now. */
    boolean forget(LivePermit permit) {
        return permits.remove(permit.name.id(), permit);
    }

    /** Whether nobody was told yet, here, that its lease is lost. */
    boolean isNewlyLost(PermitName name) {
        return lost.add(name);
    }

    private void sweepLater() {
        if (!timer.isShutdown() && sweeps.compareAndSet(false, true)) {
            timer.schedule(this::sweep, SWEEP_MS, TimeUnit.MILLISECONDS);
        }
    }

    /** Whose lease ran out is forgotten: it may live on, renewed at another desk, and is found in Redis then. */
    private void sweep() {
        sweeps.set(false);
        long now = nanoTime.getAsLong();
        for (LivePermit permit : permits.values()) {
            if (!permit.isDeskLeased(now) && forget(permit)) {
                if (permit.isInRedis()) {
                    held.leavesHere(permit);
                } else {
                    permit.close(); // nobody else knows of it
                }
            }
        }
        if (!permits.isEmpty()) {
            sweepLater();
        }
    }
}
