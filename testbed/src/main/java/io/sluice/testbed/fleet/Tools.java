package io.sluice.testbed.fleet;

/**
 * Makes each step of an agent a task: a call, a tool run on what it said, a call that carries the tool's result, and so on.
 * {@code {runs: 3, ms: 50, result: 200}} is four calls with three runs of a tool between them.
 *
 * @param runs how often a tool runs in a task, 1 to 1000
 * @param ms how long one run takes, 0 to 600,000 ms
 * @param result fresh input that a tool's result adds to the call that carries it, in tokens
 */
public record Tools(int runs, int ms, int result) {
    /** @throws IllegalArgumentException if a value is out of range, naming it */
    public Tools {
        Profile.check(runs >= 1 && runs <= 1_000, "runs of tools must be 1 to 1000, got " + runs);
        Profile.check(ms >= 0 && ms <= 600_000, "ms of tools must be 0 to 600000, got " + ms);
        Profile.check(result >= 0 && result <= 1_000_000, "result of tools must be 0 to 1000000, got " + result);
    }
}
