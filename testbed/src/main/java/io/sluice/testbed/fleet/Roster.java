package io.sluice.testbed.fleet;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Which group each agent of a fleet belongs to. Groups are dealt out evenly along the processes, so that each process has
 * about the mix of the whole fleet: every group in turn is owed its share of the agents so far, and the next agent joins
 * the one that is owed most (smooth weighted round robin, as in nginx's upstream module).
 *
 * <p>Example: groups of 4 and 2 agents are dealt out as A B A A B A.
 */
final class Roster {
    private Roster() {}

    /**
     * The group of each agent, process by process; everybody's is {@link Group#EVERYBODY} if the profile has none.
     *
     * @throws IllegalArgumentException if the groups do not fit the number of agents
     */
    static List<Group> of(List<Group> groups, int agents) {
        if (groups.isEmpty()) {
            return Collections.nCopies(agents, Group.EVERYBODY);
        }
        return deal(groups, counts(groups, agents));
    }

    /** How many agents each group has; they add up to {@code agents}. */
    static int[] counts(List<Group> groups, int agents) {
        int claimed = 0;
        int shares = 0;
        for (Group group : groups) {
            claimed = Math.addExact(claimed, group.agents() == null ? 0 : group.agents());
            shares = Math.addExact(shares, group.share() == null ? 0 : group.share());
        }
        boolean fits = shares == 0 ? claimed == agents : claimed < agents;
        Profile.check(
                fits,
                "groups: their agents add up to " + claimed + ", the fleet has " + agents + " (processes x agents)");
        int left = agents - claimed;
        int[] counts = new int[groups.size()];
        double[] rest = new double[groups.size()];
        for (int i = 0; i < counts.length; i++) {
            Integer share = groups.get(i).share();
            double exact = share == null ? 0 : (double) left * share / shares;
            counts[i] = share == null ? orZero(groups.get(i).agents()) : (int) exact;
            rest[i] = exact - (int) exact;
        }
        // What rounding left goes to the largest remainders, the earlier group first.
        IntStream.range(0, counts.length)
                .boxed()
                .filter(i -> groups.get(i).share() != null)
                .sorted(Comparator.comparingDouble(i -> -rest[i]))
                .limit(agents - Arrays.stream(counts).sum())
                .forEach(i -> counts[i]++);
        for (int i = 0; i < counts.length; i++) {
            Profile.check(counts[i] > 0, "groups: " + groups.get(i).name() + " gets none of " + agents + " agents");
        }
        return counts;
    }

    private static List<Group> deal(List<Group> groups, int[] counts) {
        int agents = Arrays.stream(counts).sum();
        int[] owed = new int[counts.length];
        List<Group> roster = new ArrayList<>(agents);
        for (int n = 0; n < agents; n++) {
            int next = 0;
            for (int i = 0; i < counts.length; i++) {
                owed[i] += counts[i];
                next = owed[i] > owed[next] ? i : next;
            }
            owed[next] -= agents;
            roster.add(groups.get(next));
        }
        return List.copyOf(roster);
    }

    private static int orZero(@Nullable Integer number) {
        return number == null ? 0 : number;
    }
}
