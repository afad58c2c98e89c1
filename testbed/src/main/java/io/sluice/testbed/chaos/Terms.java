package io.sluice.testbed.chaos;

import io.sluice.Policy;
import io.sluice.testbed.emulator.Limits;

/**
 * The budget as a policy has it for the time being.
 *
 * @param percent of the provider's rates
 * @param turned whether the urgent count for no more than others
 */
record Terms(int percent, boolean turned) {
    static final String PROJECT = "chaos";

    /** To begin with, and in the end. */
    static final Terms FULL = new Terms(100, false);

    /** Short, so that a run of minutes sees many end; long enough for a JVM that is held up. */
    static final int LEASE_MS = 3_000;

    /** Agents want three times the input there is, and two thirds of the slots do for what there is. */
    static final int SLOTS = 16;

    private static final double HEADROOM = 0.9;
    private static final double BURST_SECONDS = 5;

    /**
     * What the provider allows. It has room for the calls that run when Redis goes and for those that hosts then start by
     * themselves: whoever wants no rejection in an outage keeps that much of the provider's slots back.
     */
    static Limits provider() {
        return new Limits(
                Limit.RPM.amount, Limit.ITPM.amount, Limit.OTPM.amount, SLOTS + (long) (Allowances.SHARE * SLOTS));
    }

    /** Units a second. */
    double perSecond(Limit limit) {
        return amount(limit) * HEADROOM / 60;
    }

    /** What the policy says, a minute. */
    private long amount(Limit limit) {
        return limit.amount * percent / 100;
    }

    static double burst(Limit limit) {
        return FULL.perSecond(limit) * BURST_SECONDS;
    }

    static double burstMs() {
        return BURST_SECONDS * 1_000;
    }

    /**
     * The policy. Output is reserved by its cap, so that no call uses more than it was charged when it began.
     *
     * @param books whether it has two limits besides that are never reached: windows of a day forget nothing, so they add up
     *     what was charged
     * @param zone one in which the run does not cross midnight
     */
    Policy policy(boolean books, String zone) {
        String ledger = """
                limits:
                  requests: {amount: 1000000000, of: requests, per: day, window: calendar, zone: %1$s}
                  tokens: {amount: 1000000000000, per: day, window: calendar, zone: %1$s, weights: {input: 1, output: 1}}
                """.formatted(zone);
        return Policy.parse("""
                project: %s
                provider: anthropic
                lease: %dms
                classes:
                  - name: sonnet
                    models: ["claude-sonnet-*"]
                    output_reserve: max
                    limits: {rpm: %d, itpm: %d, otpm: %d, concurrency: %d}
                priorities: {interactive: %d, normal: 2, batch: 1}
                """.formatted(
                                PROJECT,
                                LEASE_MS,
                                amount(Limit.RPM),
                                amount(Limit.ITPM),
                                amount(Limit.OTPM),
                                SLOTS,
                                turned ? 1 : 4)
                + (books ? ledger : ""));
    }
}
