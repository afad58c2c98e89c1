package io.sluice;

import io.sluice.Store.Layout;
import io.sluice.Store.ScopeCost;
import io.sluice.Store.StoredPolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One version of a project's policy as a client uses it: a call in, its scopes and costs out. Immutable. */
final class PolicyView {
    final String stamp;
    final Policy policy;
    private final Map<String, Layout> layouts = new HashMap<>();

    /** @throws OutageException if the stored document is none that this version of the client can read */
    PolicyView(String project, StoredPolicy stored) {
        stamp = stored.stamp();
        try {
            policy = Policy.parse(stored.document());
        } catch (InvalidPolicyException e) {
            throw new OutageException("bad_policy", "the stored policy of " + project + " cannot be read: " + e, e);
        }
        stored.layouts().forEach(layout -> layouts.put(layout.scope(), layout));
    }

    long leaseUs() {
        return policy.lease().toNanos() / 1_000;
    }

    /** What a call draws on; {@code null} if no class matches its model. */
    @Nullable
    Resolved resolve(Call call) {
        ModelClass modelClass = policy.classOf(call.model);
        if (modelClass == null) {
            return null;
        }
        Permit.Reserved estimate = Estimates.reserve(call, modelClass);
        return new Resolved(this, modelClass.name(), call.model, estimate, costs(modelClass, call.model, estimate));
    }

    /** The costs of each scope by the positions the scripts keep; removed limits cost nothing. */
    List<ScopeCost> costs(ModelClass modelClass, String model, Permit.Reserved quantities) {
        List<ScopeCost> costs = new ArrayList<>(2);
        for (ScopeLimits scope : policy.scopesOf(modelClass, model)) {
            Layout layout = layouts.get(scope.scope());
            if (layout == null) {
                throw new OutageException("lost_state", "scope " + scope.scope() + " is not in Redis", null);
            }
            List<Long> units = new ArrayList<>(layout.limits().size());
            for (int i = 0; i < layout.limits().size(); i++) {
                units.add(layout.active().get(i) ? cost(scope, layout.limits().get(i), quantities) : 0L);
            }
            costs.add(new ScopeCost(scope.scope(), units));
        }
        return costs;
    }

    private static long cost(ScopeLimits scope, String name, Permit.Reserved quantities) {
        for (RefillLimit limit : scope.refills()) {
            if (limit.name().equals(name)) {
                return limit.weights().cost(quantities);
            }
        }
        throw new OutageException(
                "lost_state", "limit " + name + " of " + scope.scope() + " is not in the policy", null);
    }

    /** A call against one version of the policy. */
    record Resolved(PolicyView view, String modelClass, String model, Permit.Reserved estimate, List<ScopeCost> costs) {

        /** The costs of what was used, on the same scopes. */
        List<ScopeCost> costsOf(Permit.Reserved used) {
            ModelClass of = view.policy.classOf(model);
            return of == null ? List.of() : view.costs(of, model, used);
        }
    }
}
