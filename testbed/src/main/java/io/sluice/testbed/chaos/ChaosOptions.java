package io.sluice.testbed.chaos;

import java.time.Duration;

/**
 * A run of {@code bench chaos}.
 *
 * @param length of all legs together, without starting and stopping: 20 s to an hour
 * @param seed of what goes wrong when
 * @param processes of the fleet, 2 to 16: who is killed must leave others
 * @param agents in each, 1 to 50
 */
public record ChaosOptions(Duration length, long seed, int processes, int agents) {
    private static final int LEAST_AGENTS = 20;

    /** @throws IllegalArgumentException if a value is out of its range, naming it */
    public ChaosOptions {
        check(
                length.compareTo(Duration.ofSeconds(20)) >= 0 && length.compareTo(Duration.ofHours(1)) <= 0,
                "seconds must be 20 to 3600, got " + length.toSeconds());
        check(processes >= 2 && processes <= 16, "processes must be 2 to 16, got " + processes);
        check(agents >= 1 && agents <= 50, "agents must be 1 to 50, got " + agents);
        check(
                processes * agents >= LEAST_AGENTS,
                "agents must be " + LEAST_AGENTS + " in all, got " + processes * agents
                        + ": fewer do not use the budget up");
    }

    /** What is going to happen, in lines of text. */
    public String schedule() {
        return drawn().lines();
    }

    Schedule drawn() {
        return Schedule.draw(seed, length, processes);
    }

    private static void check(boolean good, String message) {
        if (!good) {
            throw new IllegalArgumentException(message);
        }
    }
}
