package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Answer;
import io.sluice.Store.OnHold;
import io.sluice.Store.Queued;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What ends a wait before its turn comes: its deadline, a policy or a hold under which it waits in vain, its caller at the desk,
 * the end of this process. It only says so; what Redis holds of it then goes back as {@link Outcomes} sees to.
 */
final class WaitEnds {
    private static final Logger log = LoggerFactory.getLogger(WaitEnds.class);

    /** Why a wait at the desk ends when this process stops. */
    static final String CLOSING = "closing";

    private final ProjectClient project;
    private final SluiceClient client;
    private final String id;
    private final Waiters waiters;
    private volatile boolean closed;

    /** Nobody waits at the desk any more. */
    private volatile boolean deskClosed;

    WaitEnds(ProjectClient project, Waiters waiters) {
        this.project = project;
        this.client = project.client;
        this.id = project.id();
        this.waiters = waiters;
    }

    /** It waits no longer than it may under this policy. */
    void inTime(Waiter waiter, Policy policy) {
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
            inTime(waiter, view.policy);
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
        return (hold.leftUs() == Store.UNTIL_RELEASED || hold.leftUs() > leftUs) && asked.isHeldBy(hold.scope());
    }

    /** Why it may not wait because this process stops; {@code null} if it may. */
    @Nullable
    RuntimeException closes(Waiter waiter) {
        if (waiter.ticket != null && deskClosed) {
            return closing();
        }
        return closed ? new RefusedException(Refusals.closed(id)) : null;
    }

    /** Why it may not even ask; {@code null} if it may. */
    @Nullable
    RuntimeException refuses(Waiter waiter) {
        return closed ? closes(waiter) : null;
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

    /** A caller of the desk takes its call back; whether it waited here. */
    boolean takenBack(String caller, String callId) {
        List<Waiter> its = waiters.all().stream()
                .filter(waiter -> waiter.ticket != null
                        && waiter.ticket.caller().equals(caller)
                        && waiter.name.id().equals(callId)
                        && waiter.why != null)
                .toList();
        RefusedException refused = new RefusedException(Refusals.cancelled(id, "its caller took it back"));
        return its.stream()
                        .filter(waiter -> waiter.result.completeExceptionally(refused))
                        .count()
                > 0;
    }

    /** Refuses what waits and what would have to. */
    void close() {
        closeDesk();
        closed = true;
        RefusedException refused = new RefusedException(Refusals.closed(id));
        waiters.all().forEach(waiter -> waiter.result.completeExceptionally(refused));
    }
}
