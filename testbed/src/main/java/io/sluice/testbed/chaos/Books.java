package io.sluice.testbed.chaos;

import java.util.List;

/**
 * What Redis charged beside what the provider saw, over a whole leg: every call once, none for nothing.
 *
 * @param requests charged less accepted or rejected
 * @param tokens charged less used, beyond what calls that were cut off may have been charged
 * @param mayLack requests that may be missing: their writes were lost
 * @param mayExceed requests that may be too many: permits whose holder was killed before it sent
 */
record Books(double requests, double tokens, long mayLack, long mayExceed) {
    /** The cap on the output of the largest call: what stays charged of one that was cut off. */
    private static final long LARGEST_CAP = 2_048;

    static Books of(Evidence leg, List<Sent> sent, Standing standing) {
        long least = 0;
        long most = 0;
        for (Sent call : sent) {
            long used = call.cost(Limit.ITPM) + call.last().output();
            least += used;
            most += call.finished() ? used : call.cost(Limit.ITPM) + LARGEST_CAP;
        }
        double tokens = standing.tokens() < least ? standing.tokens() - least : Math.max(0, standing.tokens() - most);
        return new Books(
                standing.requests() - sent.size() - leg.rejected(), tokens, mayLack(leg, sent), mayExceed(leg));
    }

    private static long mayLack(Evidence leg, List<Sent> sent) {
        return leg.happenings().stream()
                .mapToLong(one -> {
                    long lostMs = Allowances.lostMs(one);
                    long until = one.isOutage() ? one.outMs() : one.toMs();
                    return lostMs == 0
                            ? 0
                            : sent.stream()
                                    .filter(call ->
                                            call.atMs() >= until - lostMs && call.atMs() <= until + Excess.WAY_MS)
                                    .count();
                })
                .sum();
    }

    private static long mayExceed(Evidence leg) {
        return leg.agents()
                * leg.happenings().stream()
                        .filter(one -> one.kind() == Kind.KILL)
                        .count();
    }
}
