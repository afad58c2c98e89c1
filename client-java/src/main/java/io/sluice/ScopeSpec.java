package io.sluice;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One scope as the policy states it: the limits that stand together, and whose calls they are over.
 *
 * @param part whose: {@link #PROJECT} everybody's, {@code w:<workspace>}, {@code t:<team>}, or each agent's, team's or run's
 *     own: {@link #EACH_AGENT}, {@link #EACH_TEAM}, {@link #EACH_RUN}
 * @param modelClass the class whose calls alone they are over; {@code null} for those of all classes
 * @param limits the limits
 * @param max how many scopes may be made of it where each agent, team or run has its own; else 0
 */
record ScopeSpec(String part, @Nullable String modelClass, List<LimitSpec> limits, int max) {
    static final String PROJECT = "p";
    static final String TEAM = "t:";
    static final String EACH_AGENT = "a:";
    static final String EACH_TEAM = "e:";
    static final String EACH_RUN = "r:";

    ScopeSpec {
        limits = List.copyOf(limits);
    }

    /** The same scope with these prices for its limits in money. */
    ScopeSpec priced(List<LimitSpec.ModelWeights> prices) {
        return new ScopeSpec(
                part,
                modelClass,
                limits.stream().map(limit -> limit.priced(prices)).toList(),
                max);
    }

    static String workspace(String name) {
        return "w:" + name;
    }

    static String team(String name) {
        return TEAM + name;
    }

    /** The scope that counts the agents of another one. */
    static String agentsOf(String scope) {
        return "n:" + scope;
    }

    /** Whether a scope is one agent's, team's or run's own. */
    static boolean isOfOne(String scope) {
        return scope.startsWith(EACH_AGENT) || scope.startsWith(EACH_TEAM) || scope.startsWith(EACH_RUN);
    }

    /** The name in Redis of a part's calls of one class, or of all if it is {@code null}. */
    static String scope(String part, @Nullable String modelClass) {
        if (modelClass == null) {
            return part;
        }
        return part.equals(PROJECT) ? "c:" + modelClass : part + "|" + modelClass;
    }

    /** Its name in Redis; the beginning of the name where each agent, team or run has its own. */
    String scope() {
        return scope(part, modelClass);
    }

    /** Whether Redis keeps it: the project and its classes always, another only if something bounds it. */
    boolean isKept() {
        return part.equals(PROJECT) || limits.stream().anyMatch(limit -> !limit.countsAgents());
    }

    /** The limit on its agents, or {@code null}. It is kept as a scope of its own. */
    @Nullable
    LimitSpec agents() {
        return limits.stream().filter(LimitSpec::countsAgents).findFirst().orElse(null);
    }

    /** Whether the provider knows such limits; those of teams, agents and runs are the policy's own. */
    boolean isProviders() {
        return part.equals(PROJECT) || part.startsWith("w:");
    }

    /** Whether it is the whole project or one of its classes: what the provider's answers speak of. */
    boolean isToldOf() {
        return part.equals(PROJECT);
    }

    /** Whether calls of a class draw on it. */
    boolean covers(ModelClass called) {
        return modelClass == null || modelClass.equals(called.name());
    }
}
