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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A permit that Redis granted, or that was given without it. */
final class LivePermit implements Permit {
    private static final Logger log = LoggerFactory.getLogger(LivePermit.class);

    final PermitName name;
    private final ProjectClient project;
    private final Resolved call;
    private final Duration lease;
    private final Duration waited;

    /** When it was granted, or a claim or a repeated question heard of it, by Redis's clock. */
    private final long grantedUs;

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

    /** The one ending of this permit, once somebody has asked for one. */
    private final AtomicReference<@Nullable CompletableFuture<Ending>> ending = new AtomicReference<>();

    /** Counts its end, once there is one. */
    private volatile Consumer<Ending> onEnd = result -> {};

    /** Its lease had run out, which Redis has counted, and what it used was booked by this ending all the same. */
    volatile boolean bookedLate;

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
        this.grantedUs = grantedUs;
        this.shadow = shadow;
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

    /** It will be asserted: whether it holds its slots again then. */
    CompletableFuture<Boolean> assertedAnew() {
        CompletableFuture<Boolean> next = new CompletableFuture<>();
        asserted = next;
        return next;
    }

    /** A beat is about to tell of it. Not if it has ended. */
    synchronized boolean isTold() {
        told |= !isEnded();
        return !isEnded();
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
        return new Store.Settlement(project.id(), name, label, Memo.of(used), 0, costs);
    }

    /** What tells Redis of it now that it has ended unheard of; {@code null} once all it took is refilled. */
    Store.@Nullable Settlement spent(Reserved used) {
        LocalGrant here = grant;
        List<Store.ScopeCost> owed = here == null ? List.of() : project.budget.owed(here);
        boolean none = owed.stream().allMatch(cost -> cost.units().stream().allMatch(units -> units == 0));
        return none ? null : Store.Settlement.spent(project.id(), name, Memo.of(used), call.view().stamp, owed);
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
        return project.blocking(() -> settled(usage, true, () -> {}));
    }

    @Override
    public CompletionStage<Ending> settleAsync(Usage usage) {
        return project.client.handOver(settled(usage, true, () -> {}));
    }

    private CompletionStage<Ending> settled(Usage usage, boolean teaches, Runnable first) {
        return end(How.SETTLED, Estimates.merge(usage, call.estimate()), usage, () -> {
            first.run();
            if (teaches) {
                project.observing.learning.used(modelClass(), call.call(), usage);
            }
        });
    }

    @Override
    public Ending settle(Reading reading) {
        return project.blocking(() -> ended(reading));
    }

    @Override
    public CompletionStage<Ending> settleAsync(Reading reading) {
        return project.client.handOver(ended(reading));
    }

    private CompletionStage<Ending> ended(Reading reading) {
        Rejection rejection = reading.rejection();
        // What was cut says little of what such answers have.
        return rejection == null
                ? settled(
                        Estimates.booked(reading, call.call(), reserved().output()),
                        reading.usageComplete(),
                        () -> observed(reading))
                : rejected(rejection, Estimates.booked(reading, call.call(), 0), () -> observed(reading));
    }

    /** Tells the fleet what an answer says, first: what is asked after it meets the hold. */
    void observed(Reading reading) {
        project.observing.answered(reading, call, grantedUs);
        Rejection rejection = reading.rejection();
        if (rejection != null) {
            project.holdsHere(rejection, call);
        }
    }

    /**
     * Ends it as a caller of the desk reports.
     *
     * @param reading of the report's answer, {@code null} if it has none
     */
    CompletionStage<Ending> reported(Desk.Report report, @Nullable Reading reading) {
        Usage usage = report.usage();
        boolean whole = !usage.equals(Usage.UNKNOWN);
        if (reading != null) {
            usage = usage.orElse(reading.usage());
            whole |= reading.usageComplete();
        }
        Runnable first = () -> {
            if (report.mayTeach() && reading != null) {
                project.taughtAtDesk(reading, report.reporter(), call, grantedUs);
            }
        };
        Rejection rejection = reading == null ? null : reading.rejection();
        return rejection == null
                ? settled(usage, report.mayTeach() && whole, first)
                : rejected(rejection, usage, first);
    }

    CompletionStage<Ending> cancelledHere() {
        return cancelled();
    }

    @Override
    public Ending cancel() {
        return project.blocking(() -> cancelled());
    }

    @Override
    public CompletionStage<Ending> cancelAsync() {
        return project.client.handOver(cancelled());
    }

    private CompletionStage<Ending> cancelled() {
        return end(How.CANCELLED, new Reserved(0, 0, 0, 0, 0), null, () -> {});
    }

    @Override
    public Ending throttled(Rejection rejection) {
        return project.blocking(() -> throttledBy(rejection));
    }

    @Override
    public CompletionStage<Ending> throttledAsync(Rejection rejection) {
        return project.client.handOver(throttledBy(rejection));
    }

    private CompletionStage<Ending> throttledBy(Rejection rejection) {
        return rejected(rejection, Usage.UNKNOWN, () -> {
            project.observing.rejected(rejection, call, grantedUs);
            project.holdsHere(rejection, call);
        });
    }

    private CompletionStage<Ending> rejected(Rejection rejection, Usage before, Runnable first) {
        // The request was counted by the provider; tokens only where it told some before it failed.
        return end(How.THROTTLED, Estimates.merge(before, new Reserved(1, 0, 0, 0, 0)), null, () -> {
            first.run();
            project.client.meters.rejection(project.id(), modelClass(), rejection.kind());
            project.counting.rejected(Who.of(call), rejection);
        });
    }

    @Override
    public void sent(Map<String, List<String>> headers) {
        sends.told(headers);
    }

    /** @param first done by the one ending that counts, before Redis is told */
    private CompletionStage<Ending> end(How how, Reserved used, @Nullable Usage usage, Runnable first) {
        CompletableFuture<Ending> mine = new CompletableFuture<>();
        CompletableFuture<Ending> earlier = ending.compareAndExchange(null, mine);
        if (earlier != null) {
            return earlier.thenApply(e -> new Ending(e.ended(), true, e.charged()));
        }
        try {
            first.run();
        } catch (RuntimeException e) {
            // Whatever it was, the permit ends.
            log.error("{}: what an answer taught is lost", project.id(), e);
        }
        int requests = how == How.CANCELLED ? 0 : sends.count();
        Reserved all = new Reserved(requests, used.input(), used.cacheRead(), used.cacheWrite(), used.output());
        onEnd = result -> count(result, usage, requests);
        project.end(this, how, all).whenComplete((result, e) -> {
            if (e == null) {
                onEnd.accept(result);
                mine.complete(result);
            } else {
                mine.completeExceptionally(Blocking.cause(e));
            }
        });
        return mine;
    }

    /** Its caller could not be told of its end. */
    void endedLate(Ending result) {
        onEnd.accept(result);
    }

    private void count(Ending result, @Nullable Usage usage, int requests) {
        Meters meters = project.client.meters;
        if (!result.already()) {
            meters.permit(project.id(), modelClass(), result.ended().name().toLowerCase(Locale.ROOT));
            project.counting.ended(Who.of(call), id(), result.ended(), result.charged());
        }
        if (!result.already() || bookedLate) {
            meters.tokens(project.id(), modelClass(), result.charged());
            project.counting.used(
                    Who.of(call), result.charged(), policy().microUsd(call.call().model, result.charged()));
            if (requests > 1) {
                meters.resends(project.id(), requests - 1);
            }
        }
        if (usage != null && usage.isPartial()) {
            meters.usageMissing();
            project.counting.usageMissing();
        }
    }

    boolean isEnded() {
        return ending.get() != null;
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
        List<Runnable> told;
        synchronized (lostListeners) {
            if (lost) {
                return;
            }
            lost = true;
            told = List.copyOf(lostListeners);
        }
        project.client.meters.leaseLost();
        project.counting.lost(Who.of(call), id());
        project.client.meters.permit(project.id(), modelClass(), "expired");
        told.forEach(project.client::tellLater);
    }

    @Override
    public void close() {
        if (ending.get() == null) {
            settled(Usage.UNKNOWN, false, () -> {}).exceptionally(e -> new Ending(How.UNKNOWN, true, reserved()));
        }
    }
}
