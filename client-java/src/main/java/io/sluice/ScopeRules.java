package io.sluice;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads what has limits: the project, its classes, workspaces, teams, and each agent, team or run. */
final class ScopeRules {
    private static final int MAX_WORKSPACES = 200;
    private static final int MAX_TEAMS = 200;
    private static final int MAX_CLASSES = 200;
    private static final int MAX_EACH = 8;
    private static final int MAX_WEIGHT = 1_000;
    private static final int USUAL_MAX = 10_000;

    /** As many as the scripts take. */
    private static final int MAX_SCOPES = 1_000;

    private static final Map<String, String> EACH = Map.of(
            "agent", ScopeSpec.EACH_AGENT,
            "team", ScopeSpec.EACH_TEAM,
            "run", ScopeSpec.EACH_RUN);

    /** A team, agent or run that nobody listed may be made up: whose agents are counted has a name in the policy. */
    private static final String NO_AGENTS_EACH =
            "agents are counted of what the policy names: of the project, a class, a workspace or a team; write it under the limits of"
                    + " one of these";

    private final LimitRules limitRules;
    private final Problems problems;
    private final List<ScopeSpec> scopes = new ArrayList<>();
    private final Set<String> classNames = new LinkedHashSet<>();

    ScopeRules(LimitRules limitRules, Problems problems) {
        this.limitRules = limitRules;
        this.problems = problems;
    }

    /** All that was read, the project first. */
    List<ScopeSpec> scopes(Node document) {
        long kept = scopes.stream()
                .mapToInt(scope -> (scope.isKept() ? 1 : 0) + (scope.agents() == null ? 0 : 1))
                .sum();
        if (kept > MAX_SCOPES) {
            problems.add(
                    document, "has " + kept + " scopes with limits of their own; at most " + MAX_SCOPES + " may be");
        }
        return List.copyOf(scopes);
    }

    void project(Section root) {
        scopes.add(0, new ScopeSpec(ScopeSpec.PROJECT, null, limitRules.read(root), 0));
    }

    void modelClass(Section section, @Nullable String name) {
        read(section, ScopeSpec.PROJECT, Objects.requireNonNullElse(name, ""));
        if (name != null && !classNames.add(name)) {
            problems.add(section.at("name"), "is the name of an earlier class");
        }
    }

    /** The names of the workspaces. */
    Set<String> workspaces(Section root) {
        Set<String> names = new LinkedHashSet<>();
        for (Section section : root.sections("workspaces", MAX_WORKSPACES)) {
            String name = section.name();
            limitsAndClasses(section, ScopeSpec.workspace(Objects.requireNonNullElse(name, "")));
            section.done();
            if (name != null && !names.add(name)) {
                problems.add(section.at("name"), "is the name of an earlier workspace");
            }
        }
        return names;
    }

    /** The weights of the teams by name. */
    Map<String, Integer> teams(Section root) {
        Map<String, Integer> teams = new LinkedHashMap<>();
        for (Section section : root.sections("teams", MAX_TEAMS)) {
            String name = section.name();
            int weight = Objects.requireNonNullElse(section.whole("weight", 1, MAX_WEIGHT), 1);
            limitsAndClasses(section, ScopeSpec.team(Objects.requireNonNullElse(name, "")));
            section.done();
            if (name == null) {
                continue;
            }
            if (name.equals(Policy.OTHER_TEAMS) || name.equals(Policy.NO_NAME)) {
                problems.add(section.at("name"), "is what calls of no team or an unlisted one are counted under");
            } else if (teams.put(name, weight) != null) {
                problems.add(section.at("name"), "is the name of an earlier team");
            }
        }
        return teams;
    }

    void each(Section root) {
        Set<String> kinds = new HashSet<>();
        for (Section section : root.sections("each", MAX_EACH)) {
            section.missing("by", "must be there");
            String by = section.choice("by", new String[] {"agent", "team", "run"}, word -> word);
            List<LimitSpec> limits = limitRules.read(section);
            if (limits.stream().anyMatch(LimitSpec::countsAgents)
                    && section.at("limits") instanceof Node.Members named) {
                problems.add(named.values().getOrDefault(LimitRules.AGENTS, named), NO_AGENTS_EACH);
            }
            section.missing("limits", "must be there");
            int max = Objects.requireNonNullElse(section.whole("max", 1, 1_000_000), USUAL_MAX);
            section.done();
            scopes.add(new ScopeSpec(EACH.getOrDefault(by == null ? "" : by, ""), null, limits, max));
            if (by != null && !kinds.add(by)) {
                problems.add(section.at("by"), "has its limits in an earlier entry");
            }
        }
    }

    /** The limits of a part over all its calls, and over those of single classes. */
    private void limitsAndClasses(Section section, String part) {
        read(section, part, null);
        Set<String> names = new HashSet<>();
        for (Section ofClass : section.sections("classes", MAX_CLASSES)) {
            String name = ofClass.name();
            read(ofClass, part, Objects.requireNonNullElse(name, ""));
            ofClass.done();
            if (name == null) {
                continue;
            }
            if (!classNames.contains(name)) {
                String near = Suggest.near(name, classNames);
                problems.add(ofClass.at("name"), "is not the name of a class" + near);
            } else if (!names.add(name)) {
                problems.add(ofClass.at("name"), "has its limits in an earlier entry");
            }
        }
    }

    private void read(Section section, String part, @Nullable String modelClass) {
        scopes.add(new ScopeSpec(part, modelClass, limitRules.read(section), 0));
    }
}
