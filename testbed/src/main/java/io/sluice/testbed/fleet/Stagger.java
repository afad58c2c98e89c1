package io.sluice.testbed.fleet;

/**
 * Time between starts. Process 2 begins {@code 2 × processMs} after the start signal, its agent 3 another
 * {@code 3 × agentMs} later.
 *
 * @param processMs between one process and the next, 0 to 600,000 ms
 * @param agentMs between one agent of a process and the next, 0 to 600,000 ms
 */
public record Stagger(int processMs, int agentMs) {
    /** All at once. */
    public static final Stagger NONE = new Stagger(0, 0);

    private static final int MOST_MS = 600_000;

    /** @throws IllegalArgumentException if a value is out of range, naming it */
    public Stagger {
        Profile.check(
                processMs >= 0 && processMs <= MOST_MS, "process_ms must be 0 to " + MOST_MS + ", got " + processMs);
        Profile.check(agentMs >= 0 && agentMs <= MOST_MS, "agent_ms must be 0 to " + MOST_MS + ", got " + agentMs);
    }

    /** When an agent starts, in ms after the start signal. */
    long startMs(int process, int agent) {
        return (long) process * processMs + (long) agent * agentMs;
    }
}
