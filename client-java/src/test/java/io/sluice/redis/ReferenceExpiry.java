package io.sluice.redis;

import static io.sluice.redis.Scripted.S;

import io.sluice.redis.ReferenceLine.Host;
import io.sluice.redis.ReferenceLine.Waiter;
import io.sluice.redis.ReferenceModel.Permit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** What is due, in the order of its instants, and how permits end. */
final class ReferenceExpiry {
    private static final int EXPIRED_AT_MOST = 32;
    private static final int DROPPED_AT_MOST = 20;

    private final ReferenceLine line;

    ReferenceExpiry(ReferenceLine line) {
        this.line = line;
    }

    /** One thing that happens at an instant. */
    private record Due(long at, String member, Runnable what) {}

    private List<Due> dues(long now) {
        List<Due> dues = new ArrayList<>();
        line.budget.permits.forEach((id, permit) -> dues.add(new Due(permit.due, id, () -> ends(id, permit, now))));
        line.order.waiters.forEach((id, w) -> dues.add(new Due(w.deadline, id, () -> line.leave(w, now))));
        line.places.forEach((id, w) -> dues.add(new Due(w.deadline, id, () -> line.places.remove(id))));
        line.parkedUntil.forEach((scope, at) -> dues.add(new Due(at, scope, () -> isDue(scope, now))));
        line.budget.scopes.forEach((name, scope) ->
                scope.agents.forEach((agent, until) -> dues.add(new Due(until, name, () -> {
                    scope.agents.remove(agent);
                    scope.used = scope.agents.size();
                    line.unpark(name, now);
                }))));
        line.hosts.forEach((host, it) -> dues.add(new Due(it.lookAt, host, () -> dropIfSilent(host, it, now))));
        line.budget.scopes.forEach(
                (name, scope) -> dues.add(new Due(scope.windowEnds(), name, () -> line.budget.windowsEnd(now))));
        dues.removeIf(due -> due.at() > now);
        dues.sort(Comparator.comparingLong(Due::at).thenComparing(Due::member));
        return dues;
    }

    private void dropIfSilent(String host, Host it, long now) {
        List<Waiter> its = line.of(host);
        if (its.isEmpty()) {
            it.lookAt = Long.MAX_VALUE;
            return;
        }
        long goneAt = it.lastBeat + its.get(0).ask.leaseUs();
        if (goneAt > now) {
            it.lookAt = goneAt;
        } else {
            its.stream().limit(DROPPED_AT_MOST).forEach(w -> line.leave(w, now));
            it.lookAt = its.size() > DROPPED_AT_MOST ? now : Long.MAX_VALUE;
        }
    }

    /** How much is due: one run does 32 at most. */
    int howManyAreDue(long now) {
        return dues(now).size();
    }

    void expire(long now) {
        dues(now).stream().limit(EXPIRED_AT_MOST).forEach(due -> due.what().run());
    }

    private void ends(String id, Permit permit, long now) {
        switch (permit.state) {
            case "running" -> {
                leaves(permit, now);
                permit.state = "expired";
                permit.due = ReferenceModel.roundedUp(now + 3600 * S);
            }
            case "granted" -> unclaimed(id, permit, now);
            default -> line.budget.permits.remove(id);
        }
    }

    /** As if it had never been granted; its host did not answer. */
    private void unclaimed(String id, Permit permit, long now) {
        Waiter back = Objects.requireNonNull(permit.asked);
        line.budget.permits.remove(id);
        undo(permit, now);
        line.join(back, now);
        line.order.correct(permit, null);
        line.order.disturb(back, 1);
        Objects.requireNonNull(line.hosts.get(back.ask.host())).becomesSilent(now);
    }

    void undo(Permit permit, long now) {
        leaves(permit, now);
        line.budget.correct(permit, now, true, Map.of());
    }

    void leaves(Permit permit, long now) {
        line.budget.leave(permit, now);
        permit.costs.keySet().stream()
                .filter(ReferenceModel::isMadeOnDemand)
                .sorted(Scripted::byPlace)
                .forEach(name -> line.unpark(name, now));
    }

    private void isDue(String scope, long now) {
        line.parkedUntil.remove(scope);
        line.unpark(scope, now);
    }
}
