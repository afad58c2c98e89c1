package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Answer;
import io.sluice.Store.OnHold;
import io.sluice.Store.PermitName;
import io.sluice.Store.Queued;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of calls that asked: a permit, a place in line, a refusal, an outage, or nobody wants them any more. However
 * one ends, nothing of it stays behind in Redis: {@link #letGo}.
 */
final class Outcomes {
    private static final Logger log = LoggerFactory.getLogger(Outcomes.class);
    private static final Duration SHORTEST_RETRY = Duration.ofSeconds(1);

    /** A hold can last for days. */
    private static final Duration LONGEST_KEPT = Duration.ofHours(1);

    /** Why a wait at the desk ends when this process stops, and how long its place is kept for another desk. */
    private static final String CLOSING = "closing";

    private static final Duration KEPT_ELSEWHERE = Duration.ofSeconds(30);

    private static final Set<Refusal.Kind> KEEP_THEIR_PLACE = Set.of(Refusal.Kind.DEADLINE, Refusal.Kind.HOLD);

    private final ProjectClient project;
    private final SluiceClient client;
    private final String id;
    private final Reports reports;
    private final Tempo tempo;
    private final Waiters waiters;
    private final Held held;
    private final Handed handed;
    private final Endings endings;
    final StoreClock clock = new StoreClock(System::nanoTime);
    private volatile boolean closed;

    /** Nobody waits at the desk any more. */
    private volatile boolean deskClosed;

    /** Told of each permit that is given without Redis. */
    private volatile Consumer<LivePermit> givenHere = permit -> {};

    Outcomes(ProjectClient project, Tempo tempo, Waiters waiters, Held held, Handed handed, Endings endings) {
        this.project = project;
        this.client = project.client;
        this.id = project.id();
        this.reports = new Reports(project);
        this.tempo = tempo;
        this.waiters = waiters;
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
        endsInTime(waiter, waiter.asked().view().policy);
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
        endsInTime(waiter, waiter.asked().view().policy);
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

    // ---- what ends a wait

    private void endsInTime(Waiter waiter, Policy policy) {
        long left = Math.max(0, waiter.leftNs(policy, System.nanoTime()));
        waiter.endsBy(client.timer.schedule(() -> tooLate(waiter), left, TimeUnit.NANOSECONDS));
    }

    private void tooLate(Waiter waiter) {
        Queued why = waiter.why;
        if (why != null) {
            Refusal refusal = Refusals.wait(Refusal.Kind.DEADLINE, id, why);
            boolean here = waiter.state.get() == Waiter.State.HERE;
            waiter.result.completeExceptionally(new RefusedException(here ? Refusals.here(refusal) : refusal));
        }
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

    /** Another version of the policy: what it will never admit is refused at once, however long it may wait. */
    void moved(PolicyView view) {
        for (Waiter waiter : waiters.all()) {
            if (waiter.state.get() == Waiter.State.STANDING) {
                try {
                    moved(waiter, view);
                } catch (OutageException e) {
                    // A version that this process cannot use; the call meets it when it is told to ask again.
                    log.debug("{}: {}", id, e.getMessage());
                }
            }
        }
    }

    private void moved(Waiter waiter, PolicyView view) {
        Resolved resolved = view.resolve(waiter.call, project.observing.learning);
        Answer no = resolved == null ? null : resolved.impossible();
        if (resolved != null && no == null) {
            endsInTime(waiter, view.policy);
            return;
        }
        Refusal refusal =
                no == null ? Refusals.unresolved(id, view.policy, waiter.call) : Refusals.of(id, waiter.call, no);
        waiter.result.completeExceptionally(new RefusedException(refusal));
    }

    /**
     * These scopes are on hold. Who would stand in vain until its deadline is refused now, with the reason; who has the time keeps
     * its place.
     */
    void onHold(List<OnHold> holds) {
        project.budget.onHold(holds);
        client.meters.holds(id, holds);
        if (holds.stream().allMatch(hold -> hold.leftUs() == 0)) {
            return;
        }
        for (Waiter waiter : waiters.all()) {
            if (waiter.state.get() == Waiter.State.STANDING) {
                holds.stream()
                        .filter(hold -> isInVain(waiter, hold))
                        .findFirst()
                        .ifPresent(hold ->
                                waiter.result.completeExceptionally(new RefusedException(Refusals.hold(id, hold))));
            }
        }
    }

    private static boolean isInVain(Waiter waiter, OnHold hold) {
        Resolved asked = waiter.asked();
        long leftUs = TimeUnit.NANOSECONDS.toMicros(waiter.leftNs(asked.view().policy, System.nanoTime()));
        return (hold.leftUs() == Store.UNTIL_RELEASED || hold.leftUs() > leftUs)
                && asked.costs().stream().anyMatch(cost -> cost.scope().equals(hold.scope()));
    }

    /** Whether it may not wait because this process stops. One that was given up meanwhile goes on to be let go. */
    private boolean closes(Waiter waiter) {
        if (waiter.ticket != null && deskClosed) {
            failed(waiter, closing());
            return true;
        }
        if (closed) {
            failed(waiter, new RefusedException(Refusals.closed(id)));
        }
        return closed;
    }

    private OutageException closing() {
        return new OutageException(CLOSING, id + ": this process stops; ask again, with the same id, elsewhere", null);
    }

    /** Nobody waits at the desk any more; who can be known again keeps its place for a while. */
    void closeDesk() {
        deskClosed = true;
        for (Waiter waiter : waiters.all()) {
            if (waiter.ticket != null
                    && (waiter.state.get() == Waiter.State.STANDING || waiter.state.get() == Waiter.State.HERE)) {
                waiter.result.completeExceptionally(closing());
            }
        }
    }

    /** The calls of a caller's id that wait at the desk here. */
    List<Waiter> atDesk(String caller, String callId) {
        return waiters.all().stream()
                .filter(waiter -> waiter.ticket != null
                        && waiter.ticket.caller().equals(caller)
                        && waiter.name.id().equals(callId)
                        && waiter.why != null)
                .toList();
    }

    /** Its caller takes it back. */
    boolean takenBack(Waiter waiter) {
        return waiter.result.completeExceptionally(
                new RefusedException(Refusals.cancelled(id, "its caller took it back")));
    }

    /** Refuses what waits and what would have to. */
    void close() {
        closeDesk();
        closed = true;
        RefusedException refused = new RefusedException(Refusals.closed(id));
        waiters.all().forEach(waiter -> waiter.result.completeExceptionally(refused));
    }

    // ----

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
        } else if (waiter.ticket != null && waiter.call.id != null && waiter.endedBy(CLOSING)) {
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
