package io.sluice;

import io.sluice.InvalidPolicyException.Problem;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The versioned document that sets a project's budget: which models share which limits, and how calls that wait are
 * served. Immutable; valid as a whole, or it cannot be made.
 *
 * <pre>{@code
 * project: acme-prod
 * provider: anthropic
 * classes:
 *   - name: sonnet
 *     models: ["claude-sonnet-*"]
 *     limits: {rpm: 4000, itpm: 2000000, otpm: 400000, concurrency: 64}
 * }</pre>
 */
public final class Policy {
    /** What calls of unlisted teams, or of none, are counted under. */
    static final String OTHER_TEAMS = "other";

    /** The name under which calls share limits of each agent, team or run where they name none. */
    static final String NO_NAME = "-";

    private final Spec spec;
    private final String json;
    private final List<Problem> warnings;
    private final Map<String, ScopeLimits> scopes;

    Policy(Spec spec, String json, List<Problem> warnings) {
        this.spec = spec;
        this.json = json;
        this.warnings = List.copyOf(warnings);
        this.scopes = Compiler.scopes(spec);
    }

    /**
     * Reads a policy from a YAML or JSON file in UTF-8, at most 256 KiB long.
     *
     * @throws InvalidPolicyException if the file cannot be read or is not a valid policy, with everything that is wrong
     */
    public static Policy load(Path file) {
        return parse(PolicyReader.text(file));
    }

    /**
     * Reads a policy from YAML or JSON text, at most 256 KiB long and 16 levels deep, without anchors and aliases.
     *
     * @throws InvalidPolicyException if the text is not a valid policy, with everything that is wrong
     */
    public static Policy parse(String yamlOrJson) {
        return PolicyRules.policy(yamlOrJson);
    }

    /** The project it is for. */
    public String project() {
        return spec.project();
    }

    /** Whose budget it is; {@link Provider#GENERIC} where the policy does not say. */
    public Provider provider() {
        return spec.provider();
    }

    /** Where its calls go: what it says, else the provider's own address; {@code null} where neither names one. */
    public @Nullable String upstream() {
        return spec.upstream();
    }

    /** What is allowed but probably not meant, in the order of the document. */
    public List<Problem> warnings() {
        return warnings;
    }

    /**
     * The content as one line of JSON: what was written, in a fixed order and spelling, without defaults. Two policies
     * have the same text exactly if they have the same content, and {@link #parse} reads it back.
     */
    public String toJson() {
        return json;
    }

    /** How long a permit lives without renewal: 1 s to 15 min. */
    public Duration lease() {
        return spec.lease();
    }

    /** The most calls that may wait at a time; 0 lets none wait. */
    public int maxWaiters() {
        return spec.maxWaiters();
    }

    /** The longest a call may wait. */
    public Duration maxWait() {
        return spec.maxWait();
    }

    /** What a call meets when Redis cannot answer. */
    public Outage outage() {
        return spec.outage();
    }

    /**
     * Whether it only watches: every call is admitted at once, and what would have waited or been refused is recorded and
     * counted.
     */
    public boolean shadow() {
        return spec.shadow();
    }

    Spec spec() {
        return spec;
    }

    /** The class of ordinary calls of a model. */
    @Nullable
    ModelClass classOf(String model) {
        return classOf(Call.of(model));
    }

    /** The first class that matches a call, or {@code null}: the call is refused as {@code unknown_model}. */
    @Nullable
    ModelClass classOf(Call call) {
        for (ModelClass modelClass : spec.classes()) {
            if (modelClass.matches(call)) {
                return modelClass;
            }
        }
        return null;
    }

    /** Whether a call may name the workspace: the policy lists it, or none at all. */
    boolean allowsWorkspace(@Nullable String workspace) {
        return workspace == null
                || spec.workspaces().isEmpty()
                || spec.workspaces().contains(workspace);
    }

    /** Every scope with its limits, the project first: what is installed. */
    List<ScopeLimits> scopes() {
        return List.copyOf(scopes.values());
    }

    /** Where the windows of its calendar limits begin and end, as the scripts read it; limits name them by place, from 1. */
    List<String> calendars() {
        return Calendar.of(spec.scopes()).stream().map(Calendar::text).toList();
    }

    /**
     * The scopes one call draws on, with the weights of its model: project, class, workspace, team, each agent's, team's and
     * run's, then those that count agents. A call without a class draws on the project alone.
     */
    List<ScopeLimits> scopesOf(
            @Nullable ModelClass modelClass, String model, @Nullable String workspace, @Nullable String team) {
        return Compiler.scopesOf(spec, scopes, modelClass, model, workspace, team);
    }

    /** A limit in money that the call draws on and that no price lets it be counted on, or {@code null}. */
    @Nullable
    Unpriced unpriced(ModelClass modelClass, Call call) {
        for (ScopeLimits scope : scopesOf(modelClass, call.model, call.workspace, call.team)) {
            for (LimitSpec limit : spec.limitsOf(scope.scope())) {
                if (limit.isUnpriced(call.model)) {
                    return new Unpriced(scope.scope(), limit.name());
                }
            }
        }
        return null;
    }

    /** What that much of a model costs in millionths of a dollar, rounded to the nearest; 0 where it has no price. */
    long microUsd(String model, Permit.Reserved used) {
        return spec.prices().stream()
                .filter(price -> price.models().matches(model))
                .findFirst()
                .map(price -> price.weights().microUsd(used))
                .orElse(0L);
    }

    /** A limit in money that a call without a price draws on. */
    record Unpriced(String scope, String limit) {}

    /** The team part of a flow's name: teams the policy does not list share one, and so do calls of no team. */
    String flowTeam(@Nullable String team) {
        return team != null && spec.teams().containsKey(team) ? team : OTHER_TEAMS;
    }

    /** The weight of a flow: its team's (1 where the policy does not list it) times its priority's. */
    int flowWeight(@Nullable String team, Priority priority) {
        int weight = spec.priorities().getOrDefault(priority, 1);
        return team == null ? weight : weight * spec.teams().getOrDefault(team, 1);
    }

    /** Whether the policy lists the team; only those may be metric labels. */
    boolean hasTeam(String team) {
        return spec.teams().containsKey(team);
    }

    /** What calls meet when Redis cannot answer. */
    public enum Outage {
        /** Each host uses its own share of 0.8 × each limit. */
        LOCAL_SHARE,
        /** Every call is refused. */
        FAIL_CLOSED,
        /** Every call is admitted. */
        FAIL_OPEN;

        /** The name used in policies, such as {@code local-share}. */
        public String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** What the document says, with defaults filled in.  */
    record Spec(
            String project,
            Provider provider,
            boolean subscription,
            @Nullable String upstream,
            BigDecimal headroom,
            Duration burst,
            Duration quantum,
            Duration lease,
            int maxWaiters,
            Duration maxWait,
            Outage outage,
            boolean shadow,
            List<ModelClass> classes,
            List<ScopeSpec> scopes,
            Set<String> workspaces,
            Map<String, Integer> teams,
            Map<Priority, Integer> priorities,
            @Nullable Ramp ramp,
            List<LimitSpec.ModelWeights> prices) {
        Spec {
            prices = List.copyOf(prices);
            classes = List.copyOf(classes);
            scopes = List.copyOf(scopes);
            workspaces = Set.copyOf(workspaces);
            teams = Map.copyOf(teams);
            priorities = Map.copyOf(priorities);
        }

        /** The limits of the scope of that name. */
        List<LimitSpec> limitsOf(String scope) {
            return scopes.stream()
                    .filter(spec -> spec.scope().equals(scope))
                    .findFirst()
                    .map(ScopeSpec::limits)
                    .orElse(List.of());
        }
    }
}
