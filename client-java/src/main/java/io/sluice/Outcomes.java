package io.sluice;

import io.sluice.Store.Answer;
import io.sluice.Store.PermitName;
import io.sluice.Store.Queued;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of calls that asked: a permit, a place in line, a refusal, an outage, or nobody wants them any more. However
 * one ends, nothing of it stays behind in Redis: {@link #letGo}.
 */
final class Outcomes {
    private static final Duration SHORTEST_RETRY = Duration.ofSeconds(1);

    /** A hold can last for days. */
    private static final Duration LONGEST_KEPT = Duration.ofHours(1);

    /** How long its place is kept for another desk. */
    private static final Duration KEPT_ELSEWHERE = Duration.ofSeconds(30);

    private static final Set<Refusal.Kind> KEEP_THEIR_PLACE = Set.of(Refusal.Kind.DEADLINE, Refusal.Kind.HOLD);

    private final ProjectClient project;
    private final SluiceClient client;
    private final String id;
    private final Reports reports;
    private final Tempo tempo;
    private final Waiters waiters;
    final WaitEnds waitEnds;
    private final Held held;
    private final Handed handed;
    private final Endings endings;
    final StoreClock clock = new StoreClock(System::nanoTime);
    /** Told of each permit that is given without Redis. */
    private volatile Consumer<LivePermit> givenHere = permit -> {};

    Outcomes(ProjectClient project, Tempo tempo, Waiters waiters, Held held, Handed handed, Endings endings) {
        this.project = project;
        this.client = project.client;
        this.id = project.id();
        this.reports = new Reports(project);
        this.tempo = tempo;
        this.waiters = waiters;
        this.waitEnds = new WaitEnds(project, waiters);
        this.held = held;
        this.handed = handed;
        this.endings = endings;
    }

    /** A call that is about to ask. */
    Waiter waiter(Call call, Duration maxWait, boolean once, @Nullable Ticket ticket) {
        long now = System.nanoTime();
        PermitName undone = call.id == null ? null : endings.takeBack(call.id);
        PermitName fresh = undone == null ? fresh(call.id, ticket) : undone;
        String digest = digest(call, ticket);
        Waiter waiter = waiters.enter(
                fresh, digest, name -> new Waiter(call, name, digest, now, maxWait, once, ticket, this::ended));
        waiter.owed = undone != null;
        reports.started(call);
        return waiter;
    }

    /** Where ids are told to others, as at the desk, it takes more to name a permit. */
    private static PermitName fresh(@Nullable String id, @Nullable Ticket ticket) {
        if (id != null) {
            return new PermitName(id, RandomIds.next());
        }
        return new PermitName(RandomIds.next(), ticket == null ? "" : RandomIds.next());
    }

    private String digest(Call call, @Nullable Ticket ticket) {
        if (ticket != null) {
            return Digests.of(ticket, call);
        }
        return call.id == null ? "" : Digests.of(client.host, call);
    }

    /** Whether it may not ask because this process takes no calls any more. */
    boolean refuses(Waiter waiter) {
        RuntimeException why = waitEnds.refuses(waiter);
        if (why != null) {
            failed(waiter, why);
        }
        return why != null;
    }

    // ---- without Redis

    void onGivenHere(Consumer<LivePermit> listener) {
        givenHere = listener;
    }

    /** The permit that a call's id has already, given without Redis. */
    @Nullable
    LivePermit runsHere(Waiter waiter) {
        return waiter.call.id == null ? null : held.givenHere(waiter.call.id, waiter.digest);
    }

    /** One for a call that Redis cannot answer. What its question may have taken there goes back under its own name. */
    LivePermit permit(Waiter waiter, LocalGrant grant) {
        LivePermit permit = new LivePermit(
                project,
                waiter.asked(),
                waiter.ticket == null ? fresh(null, null) : new PermitName(Untold.id(clock.nowUs()), RandomIds.next()),
                waiter.digest,
                Duration.of(waiter.leaseUs(waiter.asked().view()), ChronoUnit.MICROS),
                waiter.waited(System.nanoTime()),
                clock.nowUs(),
                null,
                true);
        permit.grant = grant;
        if (waiter.ticket == null) {
            permit.callers = 1;
        } else {
            permit.ofDesk = true;
            handed.take(permit, false);
        }
        held.give(permit);
        return permit;
    }

    /** The call gets it, if it still wants it. */
    void granted(Waiter waiter, LivePermit permit) {
        waiter.state.set(Waiter.State.APART);
        if (waiter.result.complete(permit)) {
            givenHere.accept(permit);
        } else {
            leave(permit);
        }
    }

    /** It waits in this process. */
    void standsHere(Waiter waiter, Queued queued) {
        waiter.state.set(Waiter.State.HERE);
        if (closes(waiter)) {
            return;
        }
        reports.waits(waiter, queued);
        waitEnds.inTime(waiter, waiter.asked().view().policy);
        if (waiter.isDone()) {
            letGo(waiter);
        }
    }

    // ---- what Redis says

    /** All of them get the one permit of this id. */
    void granted(List<Waiter> wanted, Answer.Granted granted) {
        granted(wanted, granted.nonce(), granted.leaseUs(), granted.nowUs(), granted.memo(), granted.shadow());
    }

    private void granted(
            List<Waiter> wanted,
            String nonce,
            long leaseUs,
            long grantedUs,
            String memo,
            Store.@Nullable Shadow shadow) {
        long now = System.nanoTime();
        clock.heard(grantedUs);
        List<LivePermit> permits = new ArrayList<>(wanted.size());
        for (Waiter waiter : wanted) {
            PermitName name = new PermitName(waiter.name.id(), nonce);
            LivePermit permit = new LivePermit(
                    project,
                    name.equals(waiter.name) ? waiter.asked() : waiter.asked().reserving(Memo.read(memo)),
                    name,
                    waiter.digest,
                    Duration.of(leaseUs, ChronoUnit.MICROS),
                    waiter.waited(now),
                    grantedUs,
                    shadow == null ? null : shown(shadow),
                    false);
            permit.ofDesk = waiter.ticket != null;
            boolean ours = name.equals(waiter.name);
            permits.add(permit.ofDesk ? handed.take(permit, ours) : held.take(permit, ours));
        }
        for (int i = 0; i < permits.size(); i++) {
            Waiter waiter = wanted.get(i);
            waiter.owed = false;
            waiter.state.compareAndSet(Waiter.State.ASKING, Waiter.State.APART);
            if (!waiter.result.complete(permits.get(i))) {
                // Given up at that very moment (Netflix/concurrency-limits#179).
                leave(permits.get(i));
            }
        }
    }

    private static Permit.Shadow shown(Store.Shadow shadow) {
        Duration wait = shadow.waitUs() == Store.FOREVER ? null : Duration.of(shadow.waitUs(), ChronoUnit.MICROS);
        return new Permit.Shadow(
                shadow.scope(), shadow.limit(), Optional.ofNullable(wait), shadow.exactUs() != shadow.waitUs());
    }

    private void leave(LivePermit permit) {
        if (permit.ofDesk && !permit.degraded()) {
            handed.leave(permit, waiters.wants(permit.name));
        } else {
            held.leave(permit, waiters.wants(permit.name));
        }
    }

    /**
     * A grant from the line was claimed and runs. One that nobody here wants or has goes back at once. (A grant can be told of
     * twice, by a message and by a beat, and be claimed twice: then it is held already, or ended.)
     */
    void claimed(String granted, Store.Place.Running running) {
        List<Waiter> wanted = waiters.standing(granted);
        PermitName name = new PermitName(granted, running.nonce());
        if (!wanted.isEmpty()) {
            granted(wanted, running.nonce(), running.leaseUs(), running.nowUs(), running.memo(), null);
        } else if (!waiters.wants(granted) && !held.knows(name) && handed.get(name) == null) {
            endings.undo(name);
        }
    }

    /** It has a place in line. */
    void stands(Waiter waiter, Answer.Waiting answer) {
        waiter.owed = true;
        if (waiter.once) {
            failed(waiter, new RefusedException(Refusals.wait(Refusal.Kind.WAIT, id, answer.queued())));
            return;
        }
        if (closes(waiter)) {
            return;
        }
        reports.waits(waiter, answer.queued());
        waitEnds.inTime(waiter, waiter.asked().view().policy);
        waiters.stands(waiter);
        tempo.lineWithin(answer.nextUs());
        if (waiter.isDone()) {
            letGo(waiter);
        }
    }

    /** It still stands in line. */
    void told(String standing, Queued queued) {
        waiters.standing(standing).forEach(waiter -> reports.waits(waiter, queued));
    }

    /** No permit came of its question, and none is under way any more. */
    void failed(Waiter waiter, Throwable e) {
        apart(waiter);
        waiter.result.completeExceptionally(e);
        letGo(waiter);
    }

    private static void apart(Waiter waiter) {
        waiter.state.compareAndSet(Waiter.State.ASKING, Waiter.State.APART);
        waiter.state.compareAndSet(Waiter.State.HERE, Waiter.State.APART);
    }

    /** It ended before its next question could be asked. */
    void over(Waiter waiter) {
        apart(waiter);
        letGo(waiter);
    }

    /** Whether it may not wait because this process stops. One that was given up meanwhile goes on to be let go. */
    private boolean closes(Waiter waiter) {
        RuntimeException why = waitEnds.closes(waiter);
        if (why != null) {
            failed(waiter, why);
        }
        return why != null;
    }

    /** Nobody wants the permit any more: not asked for again, and given back if it came. */
    void giveUp(Waiter waiter, String why) {
        if (!waiter.result.completeExceptionally(new RefusedException(Refusals.cancelled(id, why)))) {
            waiter.result.thenAccept(permit -> {
                client.meters.permit(id, permit.modelClass(), "cancelled");
                project.counting.cancelled(Who.of(permit.call()));
                leave(permit);
            });
        }
    }

    private void ended(Waiter waiter, @Nullable LivePermit permit, @Nullable Throwable thrown) {
        waiter.endsBy(null);
        waiters.leave(waiter);
        letGo(waiter);
        if (permit != null) {
            reports.granted(waiter, permit);
        } else {
            reports.gaveUp(waiter, thrown == null ? new IllegalStateException() : Blocking.cause(thrown));
        }
    }

    /**
     * What Redis may hold for a call that ended without a permit goes back, once no question is under way any more. Only who
     * waited until its deadline, or would have in vain, and can be known again, by an id of its own, keeps its place.
     */
    private void letGo(Waiter waiter) {
        if (!waiter.isDone()
                || !waiter.owed
                || waiter.state.get() == Waiter.State.ASKING
                || waiters.wants(waiter.name)
                || handed.get(waiter.name) != null
                || !waiter.returned.compareAndSet(false, true)) {
            return;
        }
        Refusal refusal = waiter.refusal();
        if (waiter.call.id != null && refusal != null && KEEP_THEIR_PLACE.contains(refusal.kind())) {
            endings.refuse(waiter.name, keepFor(refusal.retryAfter()));
        } else if (waiter.ticket != null && waiter.call.id != null && waiter.endedBy(WaitEnds.CLOSING)) {
            endings.refuse(waiter.name, KEPT_ELSEWHERE);
        } else {
            endings.undo(waiter.name);
        }
    }

    private static Duration keepFor(@Nullable Duration retryAfter) {
        if (retryAfter == null || retryAfter.compareTo(SHORTEST_RETRY) < 0) {
            return SHORTEST_RETRY.multipliedBy(2);
        }
        return retryAfter.compareTo(LONGEST_KEPT) > 0 ? LONGEST_KEPT : retryAfter.multipliedBy(2);
    }
}
