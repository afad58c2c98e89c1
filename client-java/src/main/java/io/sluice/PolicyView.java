package io.sluice;

import io.sluice.Store.Answer;
import io.sluice.Store.Layout;
import io.sluice.Store.ScopeCost;
import io.sluice.Store.StoredPolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** One version of a project's policy as a client uses it: a call in, its scopes and costs out. Immutable. */
final class PolicyView {
    final String stamp;
    final Policy policy;
    private static final Weights NOTHING = new Weights(1, 0, 0, 0, 0, 0);
    private static final int ROUTES = 1_000;

    private final Map<String, Layout> layouts = new HashMap<>();

    /** By model, for the models seen so far. */
    private final Map<String, Route> routes = new ConcurrentHashMap<>();

    private final long leaseUs;

    /** @throws OutageException if the stored document is none that this version of the client can read */
    PolicyView(String project, StoredPolicy stored) {
        stamp = stored.stamp();
        try {
            policy = Policy.parse(stored.document());
        } catch (InvalidPolicyException e) {
            throw new OutageException("bad_policy", "the stored policy of " + project + " cannot be read: " + e, e);
        }
        leaseUs = policy.lease().toNanos() / 1_000;
        stored.layouts().forEach(layout -> layouts.put(layout.scope(), layout));
    }

    long leaseUs() {
        return leaseUs;
    }

    /** What a call draws on; {@code null} if no class matches its model. */
    @Nullable
    Resolved resolve(Call call) {
        Route route = route(call.model);
        if (route == null) {
            return null;
        }
        Permit.Reserved estimate = Estimates.reserve(call, route.modelClass);
        return new Resolved(this, call, route, estimate, route.costs(estimate));
    }

    private @Nullable Route route(String model) {
        Route known = routes.get(model);
        if (known != null) {
            return known;
        }
        ModelClass modelClass = policy.classOf(model);
        if (modelClass == null) {
            return null;
        }
        List<ScopeRoute> scopes = new ArrayList<>();
        for (ScopeLimits scope : policy.scopesOf(modelClass, model)) {
            scopes.add(scopeRoute(scope));
        }
        Route route = new Route(modelClass, scopes);
        if (routes.size() < ROUTES) {
            routes.put(model, route);
        }
        return route;
    }

    private ScopeRoute scopeRoute(ScopeLimits scope) {
        Layout layout = layouts.get(scope.scope());
        if (layout == null) {
            throw new OutageException("lost_state", "scope " + scope.scope() + " is not in Redis", null);
        }
        List<Weights> weights = new ArrayList<>();
        for (int i = 0; i < layout.limits().size(); i++) {
            weights.add(
                    layout.active().get(i) ? weightsOf(scope, layout.limits().get(i)) : NOTHING);
        }
        return new ScopeRoute(scope.scope(), weights);
    }

    private static Weights weightsOf(ScopeLimits scope, String limit) {
        for (RefillLimit refill : scope.refills()) {
            if (refill.name().equals(limit)) {
                return refill.weights();
            }
        }
        throw new OutageException(
                "lost_state", "limit " + limit + " of " + scope.scope() + " is not in the policy", null);
    }

    /** One scope's limits by the positions the scripts keep; a removed one weighs nothing. */
    private record ScopeRoute(String scope, List<Weights> weights) {}

    /** Where the calls of one model go. */
    record Route(ModelClass modelClass, List<ScopeRoute> scopes) {
        List<ScopeCost> costs(Permit.Reserved quantities) {
            List<ScopeCost> costs = new ArrayList<>(scopes.size());
            for (ScopeRoute scope : scopes) {
                List<Long> units = new ArrayList<>(scope.weights.size());
                for (Weights weights : scope.weights) {
                    units.add(weights.cost(quantities));
                }
                costs.add(new ScopeCost(scope.scope, units));
            }
            return costs;
        }
    }

    /** A call against one version of the policy. */
    record Resolved(PolicyView view, Call call, Route route, Permit.Reserved estimate, List<ScopeCost> costs) {

        String modelClass() {
            return route.modelClass.name();
        }

        /** Whose share it draws on: {@code <team>|<i, n or b>}. */
        String flow() {
            return view.policy.flowTeam(call.team) + "|" + call.priority.label().charAt(0);
        }

        /** The flow's weight: 1 to 1,000,000. */
        int weight() {
            return view.policy.flowWeight(call.team, call.priority);
        }

        /** The agent, or {@code -} if it names none. */
        String agent() {
            return call.agent == null ? "-" : call.agent;
        }

        /** Why this version will never admit the call; {@code null} if it may. */
        @Nullable
        Answer impossible() {
            return null;
        }

        /** The costs of what was used, on the same scopes. */
        List<ScopeCost> costsOf(Permit.Reserved used) {
            return route.costs(used);
        }
    }
}
