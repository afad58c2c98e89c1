package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.PermitName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A permit that Redis granted. */
final class LivePermit implements Permit {
    final PermitName name;
    private final ProjectClient project;
    private final Resolved call;
    private final Duration lease;
    private final Duration waited;
    private final @Nullable Shadow shadow;

    /** Of the caller and the body, as it was asked with. */
    private final String digest;

    /** Until when its lease runs at least; a beat that renews it moves that. */
    private volatile long leasedUntilNs;

    /** The one ending of this permit, once somebody has asked for one. */
    private final AtomicReference<@Nullable CompletableFuture<Ending>> ending = new AtomicReference<>();

    private final List<Runnable> lostListeners = new ArrayList<>();
    private boolean lost;

    /** How many callers of this id wait for it or have it, and whether it was granted to one. {@link Held} counts. */
    int callers;

    boolean ours;

    LivePermit(
            ProjectClient project,
            Resolved call,
            PermitName name,
            String digest,
            Duration lease,
            Duration waited,
            @Nullable Shadow shadow) {
        this.project = project;
        this.digest = digest;
        this.call = call;
        this.name = name;
        this.lease = lease;
        this.waited = waited;
        this.shadow = shadow;
        renewed(System.nanoTime());
    }

    /** Its lease was renewed by a beat sent then. */
    void renewed(long sentNs) {
        leasedUntilNs = sentNs + lease.toNanos();
    }

    /** Whether its lease may still run: then its slots are nobody else's yet. */
    boolean isLeased(long nowNs) {
        return leasedUntilNs - nowNs > 0;
    }

    /** All that Redis must know of it. */
    Store.Assertion assertion() {
        return new Store.Assertion(
                name,
                digest,
                Memo.of(call.estimate()),
                call.view().stamp,
                TimeUnit.NANOSECONDS.toMicros(lease.toNanos()),
                call.flow(),
                call.weight(),
                call.agent(),
                call.costs());
    }

    @Override
    public String id() {
        return name.id();
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
        return false;
    }

    @Override
    public Optional<Shadow> wouldHaveWaited() {
        return Optional.ofNullable(shadow);
    }

    @Override
    public Ending settle(Usage usage) {
        return project.blocking(() -> settled(usage));
    }

    @Override
    public CompletionStage<Ending> settleAsync(Usage usage) {
        return project.client.handOver(settled(usage));
    }

    private CompletionStage<Ending> settled(Usage usage) {
        return end(How.SETTLED, Estimates.merge(usage, call.estimate()), usage);
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
        return end(How.CANCELLED, new Reserved(0, 0, 0, 0, 0), null);
    }

    @Override
    public Ending throttled(Rejection rejection) {
        return project.blocking(() -> rejected(rejection));
    }

    @Override
    public CompletionStage<Ending> throttledAsync(Rejection rejection) {
        return project.client.handOver(rejected(rejection));
    }

    private CompletionStage<Ending> rejected(Rejection rejection) {
        if (!isEnded()) {
            project.client.meters.rejection(project.id(), modelClass(), rejection.kind());
        }
        // The request was counted by the provider, its tokens were not.
        return end(How.THROTTLED, new Reserved(call.estimate().requests(), 0, 0, 0, 0), null);
    }

    private CompletionStage<Ending> end(How how, Reserved used, @Nullable Usage usage) {
        CompletableFuture<Ending> mine = new CompletableFuture<>();
        CompletableFuture<Ending> first = ending.compareAndExchange(null, mine);
        if (first != null) {
            return first.thenApply(e -> new Ending(e.ended(), true, e.charged()));
        }
        project.end(this, how, used).whenComplete((result, e) -> {
            if (e == null) {
                count(result, usage);
                mine.complete(result);
            } else {
                mine.completeExceptionally(Blocking.cause(e));
            }
        });
        return mine;
    }

    private void count(Ending result, @Nullable Usage usage) {
        Meters meters = project.client.meters;
        if (!result.already()) {
            meters.permit(project.id(), modelClass(), result.ended().name().toLowerCase(java.util.Locale.ROOT));
            meters.tokens(project.id(), modelClass(), result.charged());
        }
        if (usage != null && usage.isPartial()) {
            meters.usageMissing();
        }
    }

    boolean isEnded() {
        return ending.get() != null;
    }

    /** The costs of what was used, for the script. */
    List<Store.ScopeCost> costsOf(Reserved used) {
        return call.costsOf(used);
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
        project.client.meters.permit(project.id(), modelClass(), "expired");
        told.forEach(project.client::tellLater);
    }

    @Override
    public void close() {
        if (ending.get() == null) {
            settled(Usage.UNKNOWN).exceptionally(e -> new Ending(How.UNKNOWN, true, reserved()));
        }
    }
}
