package io.sluice.testbed.fleet;

/**
 * What is shared fairly: the calls of one team and one priority in one class.
 *
 * @param team a team the policy lists, or {@code other}
 * @param weight the team's weight times the priority's
 * @param granted calls let go in the contended time, see {@link FlowFairness}
 * @param sharePerWeight what it was charged in the contended time ÷ weight, in minutes of the shared limits
 * @param backloggedPercent how much of the contended time at least one of its calls was waiting
 * @param alwaysBacklogged whether that is {@link FlowFairness#BACKLOGGED_PERCENT} or more: whoever wants less than its
 *     share cannot be given it
 */
public record Flow(
        String modelClass,
        String team,
        String priority,
        int weight,
        Part part,
        long granted,
        double sharePerWeight,
        double backloggedPercent,
        boolean alwaysBacklogged) {

    /** Such as {@code research batch}. */
    String name() {
        return team + " " + priority;
    }
}
