package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.PermitName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A permit that Redis granted, or that was given without it. */
final class LivePermit implements Permit {
    final PermitName name;
    private final ProjectClient project;
    private final Resolved call;
    private final Duration lease;
    private final Duration waited;

    private final @Nullable Shadow shadow;

    /** Whether it was given without Redis. */
    private final boolean degraded;

    /** What it has taken in this process; {@code null} if nobody counts that. {@link Held} sets it. */
    volatile @Nullable LocalGrant grant;

    /** Given without Redis, and a beat that tells of it was sent; and with what costs. */
    private boolean told;

    private List<Store.ScopeCost> toldCosts = List.of();

    /** Given without Redis, and Redis has heard of it. */
    private volatile boolean known;

    /** Of the caller and the body, as it was asked with. */
    private final String digest;

    /** Whether the next beat that asserts it gives it its slots again. */
    volatile CompletableFuture<Boolean> asserted = new CompletableFuture<>();

    /** Until when its lease runs at least; a beat that renews it moves that. */
    private volatile long leasedUntilNs;

    /** Its one ending. */
    final PermitEnd end;

    /** The requests that left under it. */
    final Sends sends = new Sends();

    private final List<Runnable> lostListeners = new ArrayList<>();
    private boolean lost;

    /** How many callers of this id wait for it or have it, and whether it was granted to one. {@link Held} counts. */
    int callers;

    boolean ours;

    /** Whether it was given to a caller of the desk. */
    boolean ofDesk;

    /** What it was asked for with where another process asked, scope by scope; {@code null}: as this one did. */
    private @Nullable List<Store.ScopeCost> recorded;

    LivePermit(
            ProjectClient project,
            Resolved call,
            PermitName name,
            String digest,
            Duration lease,
            Duration waited,
            long grantedUs,
            @Nullable Shadow shadow,
            boolean degraded) {
        this.degraded = degraded;
        this.project = project;
        this.digest = digest;
        this.call = call;
        this.name = name;
        this.lease = lease;
        this.waited = waited;
        this.shadow = shadow;
        this.end = new PermitEnd(this, project, call, grantedUs);
        renewed(System.nanoTime());
    }

    /** Its lease was renewed by a beat sent then. */
    void renewed(long sentNs) {
        leasedUntilNs = sentNs + lease.toNanos();
    }

    /** Whether its lease may still run: then its slots are nobody else's yet. */
    boolean isLeased(long nowNs) {
        return (degraded && !known) || leasedUntilNs - nowNs > 0;
    }

    /** Whether Redis has it among its permits, as far as is known here: then beats renew it. */
    boolean isInRedis() {
        return !degraded || known;
    }

    /** Whether beats renew it: not where it was given to a caller of the desk, who does. */
    boolean isRenewedHere() {
        return isInRedis() && !ofDesk;
    }

    /** Of one that lives by its caller's renewals: whether its lease still runs, as far as is known here. */
    boolean isDeskLeased(long nowNs) {
        return leasedUntilNs - nowNs > 0;
    }

    void isKnown() {
        known = true;
    }

    /** It will be asserted: whether it holds its slots again then. Who asks meanwhile is told the same. */
    synchronized CompletableFuture<Boolean> assertedAnew() {
        if (asserted.isDone()) {
            asserted = new CompletableFuture<>();
        }
        return asserted;
    }

    /** A beat is about to tell of it. Not if it has ended. */
    synchronized boolean isTold() {
        told |= !end.isAsked();
        return !end.isAsked();
    }

    /** Whether Redis may have it among its permits. */
    synchronized boolean mayBeInRedis() {
        return !degraded || told;
    }

    /** All that Redis must know of it. */
    Store.Assertion assertion() {
        LocalGrant here = grant;
        List<Store.ScopeCost> costs = call.costs();
        if (degraded && here != null) {
            costs = project.budget.owed(here);
            synchronized (this) {
                toldCosts = costs;
            }
        }
        return new Store.Assertion(
                name,
                digest,
                ofDesk ? Memo.of(call.estimate(), call.call()) : Memo.of(call.estimate()),
                call.view().stamp,
                TimeUnit.NANOSECONDS.toMicros(lease.toNanos()),
                call.flow(),
                call.weight(),
                call.agent(),
                costs);
    }

    /** What ends it in Redis. */
    Store.Settlement settlement(How how, Reserved used) {
        String label = how.name().toLowerCase(Locale.ROOT);
        List<Store.ScopeCost> costs = how == How.CANCELLED ? List.of() : costsOf(how, used);
        LocalGrant here = grant;
        synchronized (this) {
            if (how != How.CANCELLED && here != null && !toldCosts.isEmpty()) {
                costs = here.inPlaceOf(toldCosts, costs);
            }
        }
        return new Store.Settlement(project.id(), name, label, Memo.of(call.booked(used)), 0, costs);
    }

    /** What tells Redis of it now that it has ended unheard of; {@code null} once all it took is refilled. */
    Store.@Nullable Settlement spent(Reserved used) {
        LocalGrant here = grant;
        List<Store.ScopeCost> owed = here == null ? List.of() : project.budget.owed(here);
        boolean none = owed.stream().allMatch(cost -> cost.units().stream().allMatch(units -> units == 0));
        return none
                ? null
                : Store.Settlement.spent(project.id(), name, Memo.of(call.booked(used)), call.view().stamp, owed);
    }

    /** What its project's policy says to outages. */
    Policy policy() {
        return call.view().policy;
    }

    @Override
    public String id() {
        // One that was given without Redis has a name of its own there: nobody knows what became of the caller's.
        String id = call.call().id;
        return degraded && id != null ? id : name.id();
    }

    @Override
    public String handle() {
        return name.nonce().isEmpty() ? name.id() : name.nonce() + "." + name.id();
    }

    @Override
    public String modelClass() {
        return call.modelClass();
    }

    @Override
    public Duration waited() {
        return waited;
    }

    @Override
    public Duration lease() {
        return lease;
    }

    @Override
    public Reserved reserved() {
        return call.estimate();
    }

    @Override
    public boolean degraded() {
        return degraded;
    }

    @Override
    public Optional<Shadow> wouldHaveWaited() {
        return Optional.ofNullable(shadow);
    }

    @Override
    public Ending settle(Usage usage) {
        return project.blocking(() -> end.settled(usage));
    }

    @Override
    public CompletionStage<Ending> settleAsync(Usage usage) {
        return project.client.handOver(end.settled(usage));
    }

    @Override
    public Ending settle(Reading reading) {
        return project.blocking(() -> end.settled(reading));
    }

    @Override
    public CompletionStage<Ending> settleAsync(Reading reading) {
        return project.client.handOver(end.settled(reading));
    }

    @Override
    public Ending cancel() {
        return project.blocking(() -> end.cancelled());
    }

    @Override
    public CompletionStage<Ending> cancelAsync() {
        return project.client.handOver(end.cancelled());
    }

    @Override
    public Ending throttled(Rejection rejection) {
        return project.blocking(() -> end.throttled(rejection));
    }

    @Override
    public CompletionStage<Ending> throttledAsync(Rejection rejection) {
        return project.client.handOver(end.throttled(rejection));
    }

    @Override
    public void sent(Map<String, List<String>> headers) {
        sends.told(headers);
    }

    /** By scope and limit, what that much costs a call that ended so. */
    List<Store.ScopeCost> costsOf(How how, Reserved used) {
        List<Store.ScopeCost> costs = how == How.SETTLED ? call.costsOfServed(used) : call.costsOf(used);
        List<Store.ScopeCost> took = recorded;
        return took == null
                ? costs
                : took.stream().map(one -> inPlaceOf(one, costs)).toList();
    }

    /** What the policy no longer has, or has in another form, stays as it was. */
    private static Store.ScopeCost inPlaceOf(Store.ScopeCost took, List<Store.ScopeCost> costs) {
        return costs.stream()
                .filter(cost -> cost.scope().equals(took.scope())
                        && cost.units().size() == took.units().size())
                .findFirst()
                .orElse(took);
    }

    /** It was granted to another process, which asked for that. */
    LivePermit asRecorded(List<Store.ScopeCost> costs) {
        recorded = costs;
        ofDesk = true;
        return this;
    }

    /** As it is handed out to who asked for it so. */
    Desk.Handout handout(Waiter waiter) {
        boolean again = degraded ? callers > 1 : !name.equals(waiter.name);
        return new Desk.Handout(
                Handle.of(name),
                id(),
                modelClass(),
                waiter.waited(System.nanoTime()),
                lease,
                reserved(),
                degraded,
                again);
    }

    /** What it asked for. */
    Resolved call() {
        return call;
    }

    String digest() {
        return digest;
    }

    @Override
    public void onLost(Runnable listener) {
        synchronized (lostListeners) {
            if (!lost) {
                lostListeners.add(listener);
                return;
            }
        }
        project.client.tellLater(listener);
    }

    /** Its renewal was answered "lost". */
    void lost() {
        if (tellLost()) {
            project.client.meters.leaseLost();
            project.counting.lost(Who.of(call), id());
            project.client.meters.permit(project.id(), modelClass(), "expired");
        }
    }

    /** Tells whoever wants to know, once, that its slot belongs to others now. Whether that is news. */
    private boolean tellLost() {
        List<Runnable> told;
        synchronized (lostListeners) {
            if (lost) {
                return false;
            }
            lost = true;
            told = List.copyOf(lostListeners);
        }
        told.forEach(project.client::tellLater);
        return true;
    }

    @Override
    public void close() {
        if (!end.isAsked()) {
            ended();
        }
    }

    /** The estimate stands. */
    private CompletionStage<Ending> ended() {
        return end.closed().exceptionally(e -> new Ending(How.UNKNOWN, true, reserved()));
    }

    /** This process stops, and its owner has not ended it: the estimate stands, and its slot is for others at once. */
    CompletionStage<Ending> endsHere() {
        if (!end.isAsked()) {
            tellLost();
        }
        return ended();
    }
}
