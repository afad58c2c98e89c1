package io.sluice;

import io.sluice.Estimates.Usual;
import io.sluice.Store.Answer;
import io.sluice.Store.Layout;
import io.sluice.Store.ScopeCost;
import io.sluice.Store.StoredPolicy;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** One version of a project's policy as a client uses it: a call in, its scopes, costs and flow out. Immutable. */
final class PolicyView {
    final String stamp;
    final Policy policy;
    private static final int ROUTES = 4_000;

    private final Map<String, Layout> layouts = new HashMap<>();

    /** Workspaces and teams with limits of their own: calls of all others go one way. */
    private final Set<String> parts = new HashSet<>();

    /** What classes ask of calls beside their model. */
    private final List<When> conditions;

    /** What was found so far. */
    private final Map<RouteKey, Route> routes = new ConcurrentHashMap<>();

    /** Calls of no class, where they are admitted nevertheless. */
    private final ModelClass unknown;

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
        unknown = new ModelClass(
                "unknown", List.of(), When.ALWAYS, policy.provider().outputReserve(), ModelClass.DEFAULT_MAX_OUTPUT);
        stored.layouts().forEach(layout -> layouts.put(layout.scope(), layout));
        conditions = policy.spec().classes().stream()
                .map(ModelClass::when)
                .filter(when -> !when.equals(When.ALWAYS))
                .distinct()
                .toList();
        for (ScopeSpec scope : policy.spec().scopes()) {
            if (!scope.limits().isEmpty()) {
                parts.add(scope.part());
            }
        }
    }

    long leaseUs() {
        return leaseUs;
    }

    /**
     * What a call draws on; {@code null} if the policy does not say: no class matches it, its model has no price and money is
     * counted, or it lists workspaces and not the call's. A policy that only watches admits these too.
     *
     * @param learned what calls like it use
     */
    @Nullable
    Resolved resolve(Call call, Learning learned) {
        if (!policy.shadow() && !policy.allowsWorkspace(call.workspace)) {
            return null;
        }
        Route route = route(call);
        if (route == null) {
            return null;
        }
        ModelClass modelClass = route.modelClass;
        boolean rests = modelClass.outputReserve() == OutputReserve.LEARNED || call.inputBytes != null;
        Usual usual = rests ? learned.usual(modelClass.name(), call.agent) : Usual.UNKNOWN;
        Permit.Reserved estimate = Estimates.reserve(call, modelClass, usual);
        return new Resolved(this, call, route, estimate, route.costs(call, estimate));
    }

    private @Nullable Route route(Call call) {
        String workspace =
                call.workspace != null && parts.contains(ScopeSpec.workspace(call.workspace)) ? call.workspace : null;
        String team = call.team != null && parts.contains(ScopeSpec.team(call.team)) ? call.team : null;
        RouteKey key = new RouteKey(call.model, met(call), workspace, team);
        Route known = routes.get(key);
        if (known != null) {
            return known;
        }
        ModelClass modelClass = policy.classOf(call);
        if (!policy.shadow() && (modelClass == null || policy.unpriced(modelClass, call) != null)) {
            return null;
        }
        List<ScopeRoute> scopes = new ArrayList<>();
        for (ScopeLimits scope : policy.scopesOf(modelClass, call.model, workspace, team)) {
            scopes.add(scopeRoute(scope));
        }
        Route route = new Route(modelClass == null ? unknown : modelClass, scopes);
        if (routes.size() < ROUTES) {
            routes.put(key, route);
        }
        return route;
    }

    /** How many ways of calls are remembered. */
    int routesKnown() {
        return routes.size();
    }

    /** Which conditions of classes a call meets: with its model, all that its class depends on. */
    private BitSet met(Call call) {
        BitSet met = new BitSet();
        for (int i = 0; i < conditions.size(); i++) {
            met.set(i, conditions.get(i).matches(call));
        }
        return met;
    }

    private ScopeRoute scopeRoute(ScopeLimits scope) {
        Layout layout = layouts.get(scope.scope());
        if (layout == null) {
            throw new OutageException("lost_state", "scope " + scope.scope() + " is not in Redis", null);
        }
        List<RefillLimit> limits = new ArrayList<>();
        for (int i = 0; i < layout.limits().size(); i++) {
            limits.add(layout.active().get(i) ? limitOf(scope, layout.limits().get(i)) : ScopeRoute.REMOVED);
        }
        return new ScopeRoute(scope.scope(), scope.slots(), limits);
    }

    private static RefillLimit limitOf(ScopeLimits scope, String limit) {
        for (RefillLimit refill : scope.refills()) {
            if (refill.name().equals(limit)) {
                return refill;
            }
        }
        throw new OutageException(
                "lost_state", "limit " + limit + " of " + scope.scope() + " is not in the policy", null);
    }

    private record RouteKey(
            String model,
            BitSet met,
            @Nullable String workspace,
            @Nullable String team) {}

    /** Where the calls of one model, workspace and team go. */
    record Route(ModelClass modelClass, List<ScopeRoute> scopes) {
        List<ScopeCost> costs(Call call, Permit.Reserved quantities) {
            List<ScopeCost> costs = new ArrayList<>(scopes.size());
            for (ScopeRoute scope : scopes) {
                costs.add(scope.cost(call, quantities));
            }
            return costs;
        }
    }

    /** A call against one version of the policy. */
    record Resolved(PolicyView view, Call call, Route route, Permit.Reserved estimate, List<ScopeCost> costs) {

        /** The same with another estimate. */
        Resolved reserving(Permit.Reserved other) {
            return other.equals(estimate) ? this : new Resolved(view, call, route, other, route.costs(call, other));
        }

        /** The class's name; {@code unknown} where none matches and it is admitted nevertheless. */
        String modelClass() {
            return route.modelClass.name();
        }

        /** Whose share it draws on: {@code <team>|<i, n or b>}. */
        String flow() {
            return flowTeam() + "|" + call.priority.letter();
        }

        private String flowTeam() {
            return view.policy.flowTeam(call.team);
        }

        /** The flow's weight: 1 to 1,000,000. */
        int weight() {
            return view.policy.flowWeight(call.team, call.priority);
        }

        /** The agent, or {@code -} if it names none. */
        String agent() {
            return call.agent == null ? Policy.NO_NAME : call.agent;
        }

        /** What an operator can hold it by, beside its scopes, its agent and its flow. */
        String names() {
            boolean told = call.team == null || (flowTeam().equals(call.team) && !call.team.equals(Policy.OTHER_TEAMS));
            String team = told ? "" : ScopeSpec.EACH_TEAM + call.team;
            String run = call.run == null ? "" : ScopeSpec.EACH_RUN + call.run;
            return (team + " " + run).strip();
        }

        /** Whether a hold of that scope holds it: it draws on the scope, or is of that agent, team or run. */
        boolean isHeldBy(String scope) {
            return costs.stream().anyMatch(cost -> cost.scope().equals(scope))
                    || (call.agent != null && scope.equals(ScopeSpec.EACH_AGENT + call.agent))
                    || (call.team != null && scope.equals(ScopeSpec.EACH_TEAM + call.team))
                    || (call.run != null && scope.equals(ScopeSpec.EACH_RUN + call.run));
        }

        /** The costs of what was used, on the same scopes. */
        List<ScopeCost> costsOf(Permit.Reserved used) {
            return route.costs(call, used);
        }

        /** The same of a call that was served: what the provider charged for it and does not give back counts as used. */
        List<ScopeCost> costsOfServed(Permit.Reserved used) {
            Provider provider = view.policy.provider();
            return route.scopes.stream()
                    .map(scope -> scope.costServed(call, used, provider))
                    .toList();
        }

        /**
         * What of a report is told as charged: of each kind of token no more than what the most generous of the limits that count
         * it books, the cost of its minute or four times the estimate's. Each level is bounded so by the scripts, for itself; a
         * kind that no limit counts stays as reported.
         */
        Permit.Reserved booked(Permit.Reserved reported) {
            return new Permit.Reserved(
                    reported.requests(),
                    Math.min(reported.input(), most(Weights::input)),
                    Math.min(reported.cacheRead(), most(Weights::cacheRead)),
                    Math.min(reported.cacheWrite(), most(Weights::cacheWrite)),
                    Math.min(reported.output(), most(Weights::output)));
        }

        private long most(ToLongFunction<Weights> of) {
            long most = -1;
            for (int i = 0; i < costs.size(); i++) {
                List<RefillLimit> limits = route.scopes.get(i).limits();
                for (int k = 0; k < limits.size(); k++) {
                    long weight = of.applyAsLong(limits.get(k).weights());
                    if (weight > 0) {
                        long bound = Math.max(
                                limits.get(k).minute(), 4 * costs.get(i).units().get(k));
                        most = Math.max(most, bound / weight);
                    }
                }
            }
            return most < 0 ? Long.MAX_VALUE : most;
        }

        /**
         * Why this version will never admit the call, in the words of the scripts: closed, or larger than a limit ever allows.
         * {@code null} if it may. So calls that wait need not ask when the policy has changed to their disadvantage.
         */
        @Nullable
        Answer impossible() {
            for (int i = 0; i < costs.size() && !view.policy.shadow(); i++) {
                Answer no = route.scopes.get(i).impossible(costs.get(i));
                if (no != null) {
                    return no;
                }
            }
            return null;
        }
    }
}
