package io.sluice;

import io.sluice.Store.Answer;
import io.sluice.Store.ScopeCost;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One scope that calls draw on, its limits by the positions the scripts keep.
 *
 * @param scope its name, or the template's whose name goes on with that of the call's agent, team or run
 * @param slots as in {@link ScopeLimits}
 * @param limits {@link #REMOVED} in the place of one that the policy no longer has
 */
record ScopeRoute(String scope, long slots, List<RefillLimit> limits) {
    /** Costs nothing. */
    static final RefillLimit REMOVED =
            new RefillLimit("", 1, 1, 1, 1, Weights.MAX_EXACT, 0, 0, 1, new Weights(1, 0, 0, 0, 0, 0));

    ScopeCost cost(Call call, Permit.Reserved quantities) {
        List<Long> units = new ArrayList<>(limits.size());
        for (RefillLimit limit : limits) {
            units.add(limit.weights().cost(quantities));
        }
        return new ScopeCost(name(call), units);
    }

    /** What a call that was served cost: where the provider charged its cap, no less than that. */
    ScopeCost costServed(Call call, Permit.Reserved used, Provider provider) {
        List<Long> units = new ArrayList<>(limits.size());
        for (RefillLimit limit : limits) {
            Permit.Reserved charged = provider.keepsCap(limit.name()) ? withCap(call, used) : used;
            units.add(limit.weights().cost(charged));
        }
        return new ScopeCost(name(call), units);
    }

    private static Permit.Reserved withCap(Call call, Permit.Reserved used) {
        long cap = call.maxOutputTokens == null ? 0 : call.maxOutputTokens;
        long prompt = used.input() + used.cacheRead() + used.cacheWrite();
        long output = Math.max(used.output(), cap - prompt);
        return new Permit.Reserved(used.requests(), used.input(), used.cacheRead(), used.cacheWrite(), output);
    }

    private String name(Call call) {
        return switch (scope) {
            case ScopeSpec.EACH_AGENT -> own(call.agent);
            case ScopeSpec.EACH_TEAM -> own(call.team);
            case ScopeSpec.EACH_RUN -> own(call.run);
            default -> scope;
        };
    }

    private String own(@Nullable String name) {
        return scope + (name == null ? Policy.NO_NAME : name);
    }

    /** Why a call of this cost is never admitted, or {@code null}. As the scripts have it, a closed limit is closed to all. */
    @Nullable
    Answer impossible(ScopeCost cost) {
        if (slots == 0) {
            return new Answer.Closed(cost.scope(), scope.startsWith("n:") ? LimitRules.AGENTS : "concurrency");
        }
        for (int i = 0; i < limits.size(); i++) {
            RefillLimit limit = limits.get(i);
            long units = cost.units().get(i);
            if (limit.isClosed()) {
                return new Answer.Closed(cost.scope(), limit.name());
            }
            if (units > limit.ceiling()) {
                return new Answer.Never(cost.scope(), limit.name(), units, limit.ceiling());
            }
        }
        return null;
    }
}
