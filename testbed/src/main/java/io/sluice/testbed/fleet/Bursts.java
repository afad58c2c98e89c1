package io.sluice.testbed.fleet;

/**
 * Many calls from one step of an agent, as when it hands work to sub-agents: every {@code every}-th step makes
 * {@code calls} calls at once and ends when all of them have. {@code {calls: 47, every: 10}} is nine single calls, then
 * 47 in parallel, and so on.
 *
 * @param calls how many at once, 2 to 1000
 * @param every at which steps, from 1 (each) to 1,000,000
 */
public record Bursts(int calls, int every) {
    /** @throws IllegalArgumentException if a value is out of range, naming it */
    public Bursts {
        Profile.check(calls >= 2 && calls <= 1_000, "calls must be 2 to 1000, got " + calls);
        Profile.check(every >= 1 && every <= 1_000_000, "every must be 1 to 1000000, got " + every);
    }

    /** How many calls the step with this number makes, steps counted from 1. */
    int callsOf(long step) {
        return step % every == 0 ? calls : 1;
    }
}
