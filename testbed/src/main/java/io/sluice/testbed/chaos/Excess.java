package io.sluice.testbed.chaos;

import java.util.List;

/**
 * By how much calls passed what a limit allows, over every interval there is: {@code burst + what came in}, and on top what the
 * faults in that interval may cost.
 *
 * <p>All intervals in one pass. What a fault may cost counts for each interval that touches its time: those that end after its
 * beginning, less those that begin after its end. So the excess of the interval from one call to another is a number of the
 * last call alone less a number of the first alone, and the least of the first is kept. Example: 10 a second, a burst of 50;
 * calls of 30 at 0 s, 0 s and 1 s: 90 less the 10 that came in less the burst is 30, in the interval from the first call to the
 * last.
 *
 * @param bare if no fault accounted for anything; 0 if no interval passed its bound
 * @param beyond what no fault accounts for
 */
record Excess(double bare, double beyond) {

    /** A call reaches the provider a while after its grant: on a machine that is busy starting processes, this long. */
    static final long WAY_MS = 500;

    /**
     * What a fault may cost beyond the bound.
     *
     * @param fromMs when it can first show
     * @param toMs when it has shown
     */
    record Credit(long fromMs, long toMs, double units) {}

    static Excess of(Limit limit, List<Sent> sent, Timeline terms, List<Credit> credits) {
        return new Excess(worst(limit, sent, terms, List.of()), worst(limit, sent, terms, credits));
    }

    private static double worst(Limit limit, List<Sent> sent, Timeline terms, List<Credit> credits) {
        double most = Terms.burst(limit) + Terms.FULL.perSecond(limit) * WAY_MS / 1_000;
        double balance = 0;
        double least = Double.POSITIVE_INFINITY;
        double worst = 0;
        long lastMs = sent.isEmpty() ? 0 : sent.get(0).atMs();
        for (Sent call : sent) {
            balance -= terms.refilled(limit, lastMs, call.atMs());
            lastMs = call.atMs();
            least = Math.min(least, balance - endedBefore(lastMs, credits));
            balance += call.cost(limit);
            worst = Math.max(worst, balance - begunBy(lastMs, credits) - least - most);
        }
        return worst;
    }

    private static double begunBy(long atMs, List<Credit> credits) {
        return credits.stream()
                .filter(credit -> credit.fromMs <= atMs)
                .mapToDouble(Credit::units)
                .sum();
    }

    private static double endedBefore(long atMs, List<Credit> credits) {
        return credits.stream()
                .filter(credit -> credit.toMs < atMs)
                .mapToDouble(Credit::units)
                .sum();
    }
}
