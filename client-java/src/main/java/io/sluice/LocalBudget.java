package io.sluice;

import io.sluice.LimitSpec.Window;
import io.sluice.PolicyView.Resolved;
import io.sluice.Store.OnHold;
import io.sluice.Store.ScopeCost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What this process has in use of each scope of a project, whoever let it start: so that the share it may use without Redis is not
 * found full when Redis goes. A call takes all that it needs, or nothing.
 *
 * <p>The limits of each agent and each run are this host's alone, for an agent lives on one host; those of each team are shared out like
 * all others.
 */
final class LocalBudget {
    /** Scopes of agents, teams and runs: those used longest ago are forgotten first. */
    private static final int SCOPES = 10_000;

    private static final long A_WHILE_NS = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier nanoTime;
    private final Supplier<Share> share;
    private final Map<String, LocalScope> scopes = new LinkedHashMap<>(16, 0.75f, true);

    /** Scopes on hold as far as this process knows, and until when. */
    private final Map<String, Held> holds = new HashMap<>();

    private volatile Runnable freed = () -> {};

    private record Held(OnHold hold, long untilNs) {}

    /** @param share as it was last seen */
    LocalBudget(LongSupplier nanoTime, Supplier<Share> share) {
        this.nanoTime = nanoTime;
        this.share = share;
    }

    /** Told after something came back. */
    void onFreed(Runnable listener) {
        freed = listener;
    }

    /**
     * Why a call cannot start here now.
     *
     * @param waitNs until it could, {@link LocalLimit#NEVER} if not at all
     * @param exact whether that is more than a guess
     * @param shortOn what nobody behind it may take
     * @param hold what pauses it, if that is why
     */
    record Obstacle(
            long waitNs,
            boolean exact,
            String scope,
            String limit,
            List<Object> shortOn,
            @Nullable OnHold hold) {}

    /**
     * Takes what a call needs, or says why not.
     *
     * @param closed what calls before it are short on: it takes nothing of that
     * @return a {@link LocalGrant} or an {@link Obstacle}
     */
    synchronized Object tryTake(Resolved call, Set<Object> closed) {
        Obstacle obstacle = obstacle(call, closed);
        return obstacle == null ? take(call, false) : obstacle;
    }

    /** Takes it whatever is left: the policy admits everything, or Redis did. */
    synchronized LocalGrant take(Resolved call, boolean warm) {
        List<LocalScope> slots = new ArrayList<>();
        List<LocalGrant.Taken> taken = new ArrayList<>();
        for (int i = 0; i < call.costs().size(); i++) {
            ScopeRoute route = call.route().scopes().get(i);
            LocalScope scope = scope(call.costs().get(i).scope());
            if (scope.countsAgents()) {
                scope.saw(call.agent());
            } else {
                scope.inFlight++;
                slots.add(scope);
            }
            for (int k = 0; k < route.limits().size(); k++) {
                long units = call.costs().get(i).units().get(k);
                if (units > 0) {
                    RefillLimit limit = route.limits().get(k);
                    LocalLimit local = limit(call, route, scope, limit);
                    // Under a policy that admits everything nobody counts hosts.
                    double part =
                            warm || shareOf(route).hosts() > 0 ? shareOf(route).part() : Share.ALONE.part();
                    long cost = local.costNs(units, part);
                    if (warm) {
                        cost = local.warm(cost, units);
                    } else {
                        local.take(cost, units);
                    }
                    taken.add(new LocalGrant.Taken(local, limit, i, k, part, warm, units, cost));
                }
            }
        }
        return new LocalGrant(call.costs(), slots, taken);
    }

    /** A permit has ended, or its slots are others' now; {@code used}: what is known of that, else the estimate stands. */
    void ended(@Nullable LocalGrant grant, @Nullable List<ScopeCost> used) {
        if (grant == null) {
            return;
        }
        synchronized (this) {
            if (grant.ended) {
                return;
            }
            grant.ended = true;
            grant.slots.forEach(scope -> scope.inFlight--);
            if (used != null) {
                grant.used(used, nanoTime.getAsLong());
            }
        }
        freed.run();
    }

    synchronized List<ScopeCost> owed(LocalGrant grant) {
        return grant.owed(nanoTime.getAsLong());
    }

    /** All holds of the project, as Redis says. */
    synchronized void onHold(List<OnHold> all) {
        holds.clear();
        all.forEach(this::holdsNow);
    }

    /** One that this process knows of by itself. */
    synchronized void holdsNow(OnHold hold) {
        if (hold.leftUs() != 0) {
            long until = hold.leftUs() == Store.UNTIL_RELEASED
                    ? Long.MAX_VALUE
                    : nanoTime.getAsLong() + TimeUnit.MICROSECONDS.toNanos(hold.leftUs());
            holds.put(hold.scope(), new Held(hold, until));
        }
    }

    // ----

    private @Nullable Obstacle obstacle(Resolved call, Set<Object> closed) {
        Obstacle before = closed.isEmpty() ? null : passedOver(call, closed);
        if (before != null) {
            return before;
        }
        Shortage shared = new Shortage();
        Shortage own = new Shortage();
        for (int i = 0; i < call.costs().size(); i++) {
            ScopeCost cost = call.costs().get(i);
            ScopeRoute route = call.route().scopes().get(i);
            LocalScope scope = scope(cost.scope());
            Shortage found = isPrivate(route) ? own : shared;
            if (route.slots() != ScopeLimits.UNLIMITED) {
                slots(call, route, scope, found);
            }
            for (int k = 0; k < route.limits().size(); k++) {
                long units = cost.units().get(k);
                if (units > 0) {
                    LocalLimit limit = limit(call, route, scope, route.limits().get(k));
                    long wait = limit.waitNs(units, shareOf(route).part());
                    found.waits(wait, true, scope.name, route.limits().get(k).name(), limit);
                }
            }
        }
        for (String held : List.copyOf(holds.keySet())) {
            OnHold hold = call.isHeldBy(held) ? holdOf(held) : null;
            if (hold != null) {
                (ScopeSpec.isOfOne(held) ? own : shared).held(hold, scope(held));
            }
        }
        // One that is short on what is its own waits for that alone and keeps nobody else waiting.
        return own.exists() ? own.obstacle() : shared.exists() ? shared.obstacle() : null;
    }

    /** What a call before it is short on and it needs as well. */
    private @Nullable Obstacle passedOver(Resolved call, Set<Object> closed) {
        for (int i = 0; i < call.costs().size(); i++) {
            ScopeCost cost = call.costs().get(i);
            ScopeRoute route = call.route().scopes().get(i);
            LocalScope scope = scope(cost.scope());
            if (closed.contains(scope)) {
                return new Obstacle(A_WHILE_NS, false, scope.name, nameOfSlots(scope), List.of(), null);
            }
            for (int k = 0; k < route.limits().size(); k++) {
                String name = route.limits().get(k).name();
                LocalLimit limit = cost.units().get(k) == 0 ? null : scope.known(name);
                if (limit != null && closed.contains(limit)) {
                    return new Obstacle(A_WHILE_NS, false, scope.name, name, List.of(), null);
                }
            }
        }
        return null;
    }

    private static String nameOfSlots(LocalScope scope) {
        return scope.countsAgents() ? LimitRules.AGENTS : "concurrency";
    }

    private void slots(Resolved call, ScopeRoute route, LocalScope scope, Shortage found) {
        long most = shareOf(route).slots(route.slots());
        if (route.slots() > 0 && most == 0 && isOfOneHost(route)) {
            most = 1;
        }
        if (scope.countsAgents()) {
            if (!scope.hasRoom(call.agent(), most)) {
                long wait = most == 0 ? LocalLimit.NEVER : scope.agentLeavesNs();
                found.waits(wait, false, scope.name, nameOfSlots(scope), scope);
            }
        } else if (scope.inFlight >= most) {
            found.waits(most == 0 ? LocalLimit.NEVER : A_WHILE_NS, false, scope.name, nameOfSlots(scope), scope);
        }
    }

    private @Nullable OnHold holdOf(String scope) {
        Held held = holds.get(scope);
        if (held == null) {
            return null;
        }
        if (held.hold.leftUs() == Store.UNTIL_RELEASED) {
            return held.hold;
        }
        long left = held.untilNs - nanoTime.getAsLong();
        if (left <= 0) {
            holds.remove(scope);
            return null;
        }
        OnHold hold = held.hold;
        return new OnHold(
                hold.scope(), TimeUnit.NANOSECONDS.toMicros(left) + 1, hold.kind(), hold.retryable(), hold.note());
    }

    /** What a call is short on: of all that it is, the one that takes longest decides. */
    private static final class Shortage {
        private final List<Object> on = new ArrayList<>();
        private long waitNs;
        private boolean exact = true;
        private String scope = "";
        private String limit = "";
        private @Nullable OnHold hold;

        void waits(long wait, boolean isExact, String ofScope, String ofLimit, Object what) {
            if (wait <= 0) {
                return;
            }
            on.add(what);
            exact &= isExact;
            if (wait > waitNs) {
                waitNs = wait;
                scope = ofScope;
                limit = ofLimit;
                hold = null;
            }
        }

        void held(OnHold by, LocalScope what) {
            boolean ends = by.leftUs() != Store.UNTIL_RELEASED;
            waits(
                    ends ? TimeUnit.MICROSECONDS.toNanos(by.leftUs()) : LocalLimit.NEVER - 1,
                    true,
                    what.name,
                    Refusals.HOLD,
                    what);
            if (limit.equals(Refusals.HOLD) && scope.equals(what.name)) {
                hold = by;
            }
        }

        boolean exists() {
            return waitNs > 0;
        }

        Obstacle obstacle() {
            return new Obstacle(waitNs, exact, scope, limit, on, hold);
        }
    }

    private LocalScope scope(String name) {
        LocalScope known = scopes.get(name);
        if (known != null) {
            return known;
        }
        if (scopes.size() >= SCOPES) {
            scopes.values().stream()
                    .filter(scope -> scope.inFlight == 0)
                    .findFirst()
                    .ifPresent(scope -> scopes.remove(scope.name));
        }
        LocalScope scope = new LocalScope(name, nanoTime);
        scopes.put(name, scope);
        return scope;
    }

    private static LocalLimit limit(Resolved call, ScopeRoute route, LocalScope scope, RefillLimit limit) {
        return scope.limit(limit.name(), Pace.of(limit, limit.rate() == 0 ? window(call, route, limit) : null));
    }

    private static @Nullable Duration window(Resolved call, ScopeRoute route, RefillLimit limit) {
        return call.view().policy.spec().limitsOf(route.scope()).stream()
                .filter(spec -> spec.name().equals(limit.name()) && spec.window() != Window.REFILL)
                .findFirst()
                .map(LimitSpec::period)
                .orElse(null);
    }

    private Share shareOf(ScopeRoute route) {
        return isOfOneHost(route) ? Share.ALONE : share.get();
    }

    private static boolean isOfOneHost(ScopeRoute route) {
        return route.scope().equals(ScopeSpec.EACH_AGENT) || route.scope().equals(ScopeSpec.EACH_RUN);
    }

    private static boolean isPrivate(ScopeRoute route) {
        return isOfOneHost(route)
                || route.scope().equals(ScopeSpec.EACH_TEAM)
                || route.scope().startsWith("n:");
    }
}
