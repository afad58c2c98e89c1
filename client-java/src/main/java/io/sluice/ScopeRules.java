package io.sluice;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads the scopes beside the project and its classes: workspaces, teams' own limits, and one for each agent or run. */
final class ScopeRules {
    private static final int MAX_WORKSPACES = 200;
    private static final int MAX_CLASSES = 200;
    private static final int MAX_EACH = 8;

    private final LimitRules limitRules;
    private final Set<String> classNames;
    private final Problems problems;

    ScopeRules(LimitRules limitRules, Set<String> classNames, Problems problems) {
        this.limitRules = limitRules;
        this.classNames = classNames;
        this.problems = problems;
    }

    void workspaces(Section root) {
        Set<String> names = new HashSet<>();
        for (Section section : root.sections("workspaces", MAX_WORKSPACES)) {
            String name = section.name();
            limitsAndClasses(section);
            section.done();
            if (name != null && !names.add(name)) {
                problems.add(section.at("name"), "is the name of an earlier workspace");
            }
        }
    }

    void each(Section root) {
        Set<String> kinds = new HashSet<>();
        for (Section section : root.sections("each", MAX_EACH)) {
            section.missing("by", "must be there");
            String by = section.choice("by", new String[] {"agent", "team", "run"}, word -> word);
            limitRules.read(section);
            section.missing("limits", "must be there");
            section.whole("max", 1, 1_000_000);
            section.done();
            if (by != null && !kinds.add(by)) {
                problems.add(section.at("by"), "has its limits in an earlier entry");
            }
        }
    }

    /** The limits of a scope over all its calls, and over those of single classes. */
    void limitsAndClasses(Section scope) {
        limitRules.read(scope);
        Set<String> names = new HashSet<>();
        for (Section section : scope.sections("classes", MAX_CLASSES)) {
            String name = section.name();
            limitRules.read(section);
            section.done();
            if (name == null) {
                continue;
            }
            if (!classNames.contains(name)) {
                String near = Suggest.near(name, List.copyOf(classNames));
                problems.add(section.at("name"), "is not the name of a class" + near);
            } else if (!names.add(name)) {
                problems.add(section.at("name"), "has its limits in an earlier entry");
            }
        }
    }
}
