package io.sluice.server.security;

import io.sluice.Glob;
import io.sluice.Priority;
import io.sluice.server.problem.Problem;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who calls, as its token says: never as its body says.
 *
 * @param name of the token; what is shown in events and versions
 * @param role what it is for
 * @param projects patterns of the projects it may touch; {@code *} is any text
 * @param team the team its calls count for, or {@code null} for any
 * @param workspace the workspace its calls go to, or {@code null} for any
 * @param highest the most urgent priority its calls may have
 * @param agentPrefix what the names of its agents begin with; empty for any
 * @param mayReport whether what it tells of the provider's answers is believed
 */
public record Caller(
        String name,
        Role role,
        List<String> projects,
        @Nullable String team,
        @Nullable String workspace,
        Priority highest,
        String agentPrefix,
        boolean mayReport) {

    private static final Pattern PROJECTS = Pattern.compile("[a-z0-9._*-]{1,63}");

    /** Whoever reaches a server that has no tokens: it listens on loopback only. */
    static final Caller LOCAL =
            new Caller("local", Role.ADMIN, List.of("*"), null, null, Priority.INTERACTIVE, "", true);

    /** @throws IllegalArgumentException if {@code projects} has what is no pattern of ids */
    public Caller {
        projects = List.copyOf(projects);
        if (!projects.stream().allMatch(pattern -> PROJECTS.matcher(pattern).matches())) {
            throw new IllegalArgumentException("projects must list project ids, with * for any text");
        }
    }

    /** Whether it may touch the project at all. */
    public boolean covers(String project) {
        return projects.stream().anyMatch(pattern -> new Glob(pattern).matches(project));
    }

    /** Whether it may make projects and say where their calls go. */
    public boolean isRoot() {
        return role == Role.ADMIN && projects.contains("*");
    }

    /** The team of a call: its own where it has one. */
    public @Nullable String team(@Nullable String asked) {
        return bound("team", team, asked);
    }

    /** The workspace of a call: its own where it has one. */
    public @Nullable String workspace(@Nullable String asked) {
        return bound("workspace", workspace, asked);
    }

    /** The priority of a call; where it asks for none, normal or the highest it may have. */
    public Priority priority(@Nullable Priority asked) {
        if (asked == null) {
            return highest.compareTo(Priority.NORMAL) > 0 ? highest : Priority.NORMAL;
        }
        if (asked.compareTo(highest) < 0) {
            throw Problem.forbidden("this token's calls are at most " + highest.label() + ", not " + asked.label());
        }
        return asked;
    }

    /** The agent of a call. */
    public @Nullable String agent(@Nullable String asked) {
        if (!agentPrefix.isEmpty() && (asked == null || !asked.startsWith(agentPrefix))) {
            throw Problem.forbidden("this token's agents are named " + agentPrefix + "…");
        }
        return asked;
    }

    private static @Nullable String bound(String what, @Nullable String mine, @Nullable String asked) {
        if (mine != null && asked != null && !mine.equals(asked)) {
            throw Problem.forbidden("this token is of " + what + " " + mine + ", not " + asked);
        }
        return mine == null ? asked : mine;
    }
}
