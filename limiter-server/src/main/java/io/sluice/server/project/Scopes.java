package io.sluice.server.project;

import io.sluice.server.problem.Problem;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Which part of a project is meant, as its parts are named everywhere: {@code p}, {@code c:sonnet}, {@code t:research}. Pure. */
final class Scopes {
    static final String PROJECT = "p";
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:/@-]{1,128}");
    private static final Pattern SCOPE =
            Pattern.compile("p|[a-z]:[A-Za-z0-9._:/@-]{1,128}(\\|[A-Za-z0-9._:/@-]{1,128})?");

    private Scopes() {}

    /**
     * The scope; a class together with one of the others is that one's calls of the class.
     *
     * @param scope its name; then all else is {@code null}
     * @throws Problem 400 if that is none
     */
    static String of(
            @Nullable String scope,
            @Nullable String modelClass,
            @Nullable String workspace,
            @Nullable String team,
            @Nullable String agent,
            @Nullable String run) {
        Map<String, String> parts = new LinkedHashMap<>();
        put(parts, "workspace", "w:", workspace);
        put(parts, "team", "t:", team);
        put(parts, "agent", "a:", agent);
        put(parts, "run", "r:", run);
        if (parts.size() > 1 || (scope != null && (modelClass != null || !parts.isEmpty()))) {
            throw Problem.invalid("name one scope: a class, workspace, team, agent or run");
        }
        if (scope != null) {
            if (!SCOPE.matcher(scope).matches()) {
                throw Problem.invalid("/scope", "must be a scope, such as p, c:sonnet or t:research");
            }
            return scope;
        }
        if (modelClass != null && !NAME.matcher(modelClass).matches()) {
            throw Problem.invalid("/class", "must be a name");
        }
        String part = parts.isEmpty() ? PROJECT : parts.values().iterator().next();
        if (modelClass == null) {
            return part;
        }
        return part.equals(PROJECT) ? "c:" + modelClass : part + "|" + modelClass;
    }

    private static void put(Map<String, String> parts, String member, String prefix, @Nullable String name) {
        if (name != null) {
            if (!NAME.matcher(name).matches()) {
                throw Problem.invalid("/" + member, "must be 1 to 128 of [A-Za-z0-9._:/@-]");
            }
            parts.put(member, prefix + name);
        }
    }
}
