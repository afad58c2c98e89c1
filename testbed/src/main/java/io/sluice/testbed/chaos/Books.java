package io.sluice.testbed.chaos;

import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * What Redis charged beside what the provider saw, over a whole leg: every call once, none for nothing.
 *
 * @param requests charged less accepted or rejected
 * @param tokens charged less used, beyond what calls that were cut off may have been charged
 * @param mayLack requests that may be missing: the writes of their grants were lost
 * @param mayExceed requests that may be too many: permits whose holder was killed before it sent
 * @param mayLackTokens the tokens of the former
 * @param mayExceedTokens those of the latter, and what stays charged where the write of a settle was lost
 */
record Books(double requests, double tokens, long mayLack, long mayExceed, long mayLackTokens, long mayExceedTokens) {
    /** The cap on the output of the largest call. */
    private static final long LARGEST_CAP = 2_048;

    static Books of(Evidence leg, List<Sent> sent, Standing standing) {
        long least = 0;
        long most = 0;
        for (Sent call : sent) {
            least += used(call);
            most += call.finished() ? used(call) : call.cost(Limit.ITPM) + LARGEST_CAP;
        }
        double tokens = standing.tokens() < least ? standing.tokens() - least : Math.max(0, standing.tokens() - most);
        long unsent = leg.agents()
                * leg.happenings().stream()
                        .filter(one -> one.kind() == Kind.KILL)
                        .count();
        return new Books(
                standing.requests() - sent.size() - leg.rejected(),
                tokens,
                lost(leg, sent, Sent::atMs).count(),
                unsent,
                lost(leg, sent, Sent::atMs).mapToLong(Books::used).sum(),
                unsent * (Allowances.largest(Limit.ITPM) + LARGEST_CAP)
                        + lost(leg, sent, call -> call.last().tMs())
                                .mapToLong(call -> LARGEST_CAP
                                        - Math.min(LARGEST_CAP, call.last().output()))
                                .sum());
    }

    private static long used(Sent call) {
        return call.cost(Limit.ITPM) + call.last().output();
    }

    /** Calls of which something was written in a time whose writes are lost. */
    private static Stream<Sent> lost(Evidence leg, List<Sent> sent, ToLongFunction<Sent> written) {
        return sent.stream()
                .filter(call -> leg.happenings().stream().anyMatch(one -> {
                    long until = one.isOutage() ? one.outMs() : one.toMs();
                    long atMs = written.applyAsLong(call);
                    return Allowances.lostMs(one) > 0
                            && atMs >= until - Allowances.lostMs(one)
                            && atMs <= until + Excess.WAY_MS;
                }));
    }
}
