package io.sluice.testbed.fleet;

import io.sluice.Call;
import io.sluice.Priority;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Agents of a profile that are alike. What a group does not say, the profile says. A group has either a number of agents
 * in the whole fleet or a share of those that no number claims.
 *
 * @param name what messages call it; default its place in the list, such as {@code #2}
 * @param agents how many agents of the fleet, at least 1
 * @param share its share of the agents that are left, at least 1
 * @param team the team of its calls
 * @param priority the priority of its calls
 * @param workspace the workspace of its calls; default none
 * @param sizes the sizes of its calls; empty are the profile's
 * @param thinkMs the longest pause before a step
 * @param bursts when a step makes many calls
 */
public record Group(
        @Nullable String name,
        @Nullable Integer agents,
        @Nullable Integer share,
        @Nullable String team,
        @Nullable String priority,
        @Nullable String workspace,
        List<Profile.Size> sizes,
        @Nullable Integer thinkMs,
        @Nullable Bursts bursts) {

    /** Who says nothing: does as the profile does. */
    static final Group EVERYBODY = new Group("everybody", null, 1, null, null, null, List.of(), null, null);

    /** @throws IllegalArgumentException if a value is out of range, naming it */
    public Group {
        sizes = sizes == null ? List.of() : List.copyOf(sizes);
        Profile.check(
                (agents == null) != (share == null),
                "a group has either agents or share, got agents " + agents + " and share " + share);
        Profile.check(agents == null || agents >= 1, "agents of a group must be 1 or more, got " + agents);
        Profile.check(share == null || share >= 1, "share of a group must be 1 or more, got " + share);
        Profile.check(thinkMs == null || thinkMs >= 0, "think_ms of a group must not be below 0, got " + thinkMs);
        if (priority != null) {
            Priority.of(priority);
        }
        // The client's own rules for names, told here and not by every process.
        if (team != null) {
            Call.of("-").team(team);
        }
        if (workspace != null) {
            Call.of("-").workspace(workspace);
        }
    }

    Group named(String other) {
        return new Group(other, agents, share, team, priority, workspace, sizes, thinkMs, bursts);
    }
}
