package io.sluice.testbed.chaos;

import java.util.List;

/**
 * By how much calls passed what a limit allows, over every interval there is: {@code burst + what came in}.
 *
 * <p>All intervals at once: what the worst interval that ends now has had above what came in is one number, which grows by
 * each call's cost and falls by what comes in, never below 0. Where it passes the burst, some interval passed its bound. Example:
 * 10 a second, a burst of 50; calls of 30 at 0 s, 0 s and 1 s: 30, 60, 80 less the 10 that came in: 20 above the burst, in the
 * interval from the first call to the last.
 *
 * @param beyond what no fault accounts for
 * @param granted what faults account for, of what {@link Credit}s allow
 */
record Excess(double beyond, double granted) {

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
        double[] left = credits.stream().mapToDouble(Credit::units).toArray();
        double most = Terms.burst(limit) + terms.refilled(limit, 0, WAY_MS);
        double owed = 0;
        double beyond = 0;
        double granted = 0;
        long lastMs = sent.isEmpty() ? 0 : sent.get(0).atMs();
        for (Sent call : sent) {
            owed = Math.max(0, owed - terms.refilled(limit, lastMs, call.atMs())) + call.cost(limit);
            lastMs = call.atMs();
            for (int i = 0; i < left.length && owed > most; i++) {
                Credit credit = credits.get(i);
                if (credit.fromMs <= lastMs && lastMs <= credit.toMs) {
                    double taken = Math.min(left[i], owed - most);
                    left[i] -= taken;
                    owed -= taken;
                    granted += taken;
                }
            }
            beyond = Math.max(beyond, owed - most);
        }
        return new Excess(beyond, granted);
    }
}
