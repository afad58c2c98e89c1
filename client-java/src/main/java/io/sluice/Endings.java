package io.sluice;

import io.sluice.Store.PermitName;
import io.sluice.Store.Settled;
import io.sluice.Store.Settlement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How permits and waits of one project end: told to Redis, and told again until Redis has heard it. Repeating an ending is
 * safe, and each is kept for an hour at most.
 */
final class Endings {
    private static final Logger log = LoggerFactory.getLogger(Endings.class);
    private static final int TRIES = 3;
    private static final int BACKLOG = 20_000;
    private static final long KEPT_NS = TimeUnit.HOURS.toNanos(1);

    /** What Redis did not hear is told again three times a second. */
    private static final long AGAIN_MS = 333;

    private final SluiceClient client;
    private final String project;

    /** Endings that Redis has not confirmed: what is undone by its id, everything else by id and nonce. */
    private final Map<String, Unheard> backlog = new ConcurrentHashMap<>();

    /** Permits whose own end is on its way for the first time. */
    private final Set<PermitName> ending = ConcurrentHashMap.newKeySet();

    private final AtomicInteger underWay = new AtomicInteger();

    /** Of those, what is given back in the background. */
    private final AtomicInteger returning = new AtomicInteger();

    private final AtomicInteger dropped = new AtomicInteger();
    private final AtomicBoolean willTellAgain = new AtomicBoolean();

    private static final class Unheard {
        final PermitName permit;

        /** {@code null} where there is none but {@link #otherwise}. */
        volatile @Nullable Settlement settlement;

        /** What there is to tell if Redis does not know the permit; made when it is sent, {@code null} for nothing. */
        final Supplier<@Nullable Settlement> otherwise;

        final long untilNs = System.nanoTime() + KEPT_NS;

        /** Told what became of it, if Redis says so at last. */
        final Consumer<Settled> heard;

        /** Whether it is on its way just now. */
        volatile boolean sent;

        Unheard(Settlement settlement, Consumer<Settled> heard) {
            this(settlement.permit(), settlement, () -> null, heard);
        }

        Unheard(
                PermitName permit,
                @Nullable Settlement settlement,
                Supplier<@Nullable Settlement> otherwise,
                Consumer<Settled> heard) {
            this.permit = permit;
            this.settlement = settlement;
            this.otherwise = otherwise;
            this.heard = heard;
        }

        @Nullable
        Settlement next() {
            Settlement first = settlement;
            return first == null ? otherwise.get() : first;
        }

        /** Nobody ever got the permit. */
        boolean undoes() {
            Settlement it = settlement;
            return it != null && it.how().equals("undone");
        }

        String key() {
            return undoes() ? permit.id() : keyOf(permit);
        }
    }

    private static String keyOf(PermitName name) {
        return name.id() + " " + name.nonce(); // no id has a space
    }

    Endings(SluiceClient client, String project) {
        this.client = client;
        this.project = project;
    }

    /**
     * Ends a permit; three time-outs in a row, and it is told again in the background.
     *
     * @param late told what Redis says of it then
     */
    CompletionStage<Settled> end(Settlement settlement, Consumer<Settled> late) {
        ending.add(settlement.permit());
        return counted(() -> send(settlement, 1)).whenComplete((settled, e) -> {
            if (e != null && remember(new Unheard(settlement, late))) {
                willTellAgain();
            }
            ending.remove(settlement.permit());
        });
    }

    /** Nobody wants it any more: whatever Redis holds under this name, a place in line or a permit, goes as if it never was. */
    void undo(PermitName name) {
        Unheard unheard =
                new Unheard(new Settlement(project, name, "undone", client.host, 0, List.of()), settled -> {});
        if (remember(unheard)) {
            tell(unheard);
        }
    }

    /**
     * A permit that was given without Redis has ended.
     *
     * @param known what ends it where Redis has been told of it; {@code null}: it has not
     * @param otherwise what Redis must be charged where it does not know it
     */
    void tell(PermitName name, @Nullable Settlement known, Supplier<@Nullable Settlement> otherwise) {
        Unheard unheard = new Unheard(name, known, otherwise, settled -> {});
        if (remember(unheard)) {
            tell(unheard);
        }
    }

    /** Ends a wait at whichever host it waits; whether there was one. */
    CompletionStage<Boolean> withdraw(PermitName name) {
        return counted(() -> send(new Settlement(project, name, "withdrawn", "", 0, List.of()), 1))
                .thenApply(settled -> settled instanceof Settled.Ended);
    }

    /** It waited until its deadline, and its place is kept. If it was granted at that very moment, that is undone. */
    void refuse(PermitName name, Duration keep) {
        long keepUs = TimeUnit.NANOSECONDS.toMicros(keep.toNanos());
        Settlement refused = new Settlement(project, name, "refused", "", keepUs, List.of());
        returned(() -> send(refused, 1)).whenComplete((settled, e) -> {
            if (!(settled instanceof Settled.Ended ended && ended.state().equals("refused"))) {
                undo(name);
            }
        });
    }

    /**
     * The name under which a permit of this id is being undone, if one is: it is the same permit that is wanted now, and it
     * must not be undone any more.
     */
    @Nullable
    PermitName takeBack(String id) {
        Unheard unheard = backlog.get(id);
        return unheard != null && backlog.remove(id, unheard) ? unheard.permit : null;
    }

    /** Whether the end of this permit is on its way already. */
    boolean ends(PermitName name) {
        return ending.contains(name) || backlog.containsKey(name.id()) || backlog.containsKey(keyOf(name));
    }

    private boolean remember(Unheard unheard) {
        if (backlog.size() >= BACKLOG) {
            if (dropped.getAndIncrement() == 0) {
                log.error(
                        "{}: more than {} endings that Redis did not hear: from now on some are dropped",
                        project,
                        BACKLOG);
            }
            return false;
        }
        backlog.put(unheard.key(), unheard);
        return true;
    }

    private void tell(Unheard unheard) {
        unheard.sent = true;
        returned(() -> sendIfWanted(unheard)).whenComplete((settled, e) -> {
            unheard.sent = false;
            if (e == null) {
                backlog.remove(unheard.key(), unheard);
                dropped.set(0);
                unheard.heard.accept(settled);
            } else {
                willTellAgain();
            }
        });
    }

    /** By its turn the permit may be wanted again: {@link #takeBack}. */
    private CompletionStage<Settled> sendIfWanted(Unheard unheard) {
        Settlement next = unheard.equals(backlog.get(unheard.key())) ? unheard.next() : null;
        if (next == null) {
            return CompletableFuture.completedStage(new Settled.Unknown());
        }
        return send(next, TRIES).thenApply(settled -> own(settled, next)).thenCompose(settled -> {
            if (!(settled instanceof Settled.Unknown) || unheard.settlement == null) {
                return CompletableFuture.completedStage(settled);
            }
            unheard.settlement = null;
            Settlement other = unheard.next();
            return other == null ? CompletableFuture.completedStage(settled) : send(other, TRIES);
        });
    }

    private void willTellAgain() {
        if (!client.timer.isShutdown() && willTellAgain.compareAndSet(false, true)) {
            client.timer.schedule(this::tellAgain, AGAIN_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void tellAgain() {
        willTellAgain.set(false);
        long now = System.nanoTime();
        boolean answers = client.store.answers();
        backlog.forEach((key, unheard) -> {
            if (now - unheard.untilNs > 0 || (!unheard.sent && unheard.next() == null)) {
                backlog.remove(key, unheard);
            } else if (!unheard.sent && answers) {
                tell(unheard);
            }
        });
        if (!answers && !backlog.isEmpty()) {
            willTellAgain();
        }
    }

    private CompletionStage<Settled> returned(Supplier<CompletionStage<Settled>> sending) {
        returning.incrementAndGet();
        return counted(() -> client.returns.run(sending)).whenComplete((settled, e) -> returning.decrementAndGet());
    }

    private CompletionStage<Settled> counted(Supplier<CompletionStage<Settled>> sending) {
        underWay.incrementAndGet();
        return sending.get().whenComplete((settled, e) -> underWay.decrementAndGet());
    }

    private CompletionStage<Settled> send(Settlement settlement, int attempt) {
        return client.store
                .settle(settlement)
                .exceptionallyCompose(e -> attempt < TRIES && isTimeout(e)
                        ? send(settlement, attempt + 1).thenApply(settled -> own(settled, settlement))
                        : CompletableFuture.failedStage(Blocking.cause(e)));
    }

    /** Of one that was sent before: what has ended just so already was ended by that, or was booked by it after its lease. */
    private static Settled own(Settled settled, Settlement sent) {
        if (!(settled instanceof Settled.Ended ended)
                || !ended.already()
                || !ended.memo().equals(sent.memo())) {
            return settled;
        }
        if (ended.state().equals("expired") && !sent.how().equals("cancelled")) {
            return new Settled.Ended("booked", true, ended.memo());
        }
        return ended.state().equals(sent.how()) ? new Settled.Ended(ended.state(), false, ended.memo()) : settled;
    }

    private static boolean isTimeout(Throwable e) {
        return Blocking.cause(e) instanceof OutageException outage
                && outage.reason().equals("timeout");
    }

    /** Completes when the endings under way have arrived, and those that {@code quiet} stands for may no longer come. */
    CompletableFuture<Void> close(BooleanSupplier quiet) {
        tellAgain();
        return when(() -> quiet.getAsBoolean() && underWay.get() == 0);
    }

    /** Completes when nothing that is given back is under way. */
    CompletableFuture<Void> returned() {
        return when(() -> returning.get() == 0);
    }

    private CompletableFuture<Void> when(BooleanSupplier quiet) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        waitForAll(quiet, done);
        return done;
    }

    private void waitForAll(BooleanSupplier quiet, CompletableFuture<Void> done) {
        if (quiet.getAsBoolean()) {
            done.complete(null);
        } else if (!client.timer.isShutdown()) {
            client.timer.schedule(() -> waitForAll(quiet, done), 5, TimeUnit.MILLISECONDS);
        }
    }
}
