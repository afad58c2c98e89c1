package io.sluice.testbed.chaos;

import io.sluice.testbed.chaos.Excess.Credit;
import java.util.List;
import java.util.stream.Stream;

/** What each kind of fault may cost beyond the bounds that hold without faults, as docs/operations.md states it. */
final class Allowances {
    /** Of every limit, what hosts may use without Redis. */
    static final double SHARE = 0.8;

    /** The calls that a process's agents make at once, at their largest. */
    private static final long LARGEST_INPUT = 20_800;

    private static final long LARGEST_OUTPUT = 1_560;

    /** Where a primary is killed its replica is behind by less. */
    private static final long LOST_MS = 1_000;

    /** Hosts tell what they spent meanwhile as soon as Redis answers, and it takes them this long to notice. */
    private static final long TOLD_MS = 2_000;

    private Allowances() {}

    static List<Credit> of(Limit limit, Evidence leg) {
        Stream<Credit> faults = leg.happenings().stream()
                .flatMap(one -> Stream.of(outage(limit, one), lost(limit, one), late(limit, one, leg.agents())))
                .filter(credit -> credit.units() > 0);
        // Of an answer that came too late Redis knows nothing until the host tells.
        Stream<Credit> alone = leg.aloneWithoutFaultMs().stream()
                .map(sentMs -> new Credit(sentMs - TOLD_MS, sentMs + TOLD_MS, largest(limit)));
        return Stream.concat(faults, alone).toList();
    }

    /**
     * Hosts begin with what their buckets hold; and when Redis is back its own have refilled, and do not know yet what was
     * used meanwhile.
     */
    private static Credit outage(Limit limit, Happening one) {
        double units = one.isOutage() ? SHARE * Terms.burst(limit) + refilled(limit, one.outageMs()) : 0;
        return new Credit(one.outMs(), one.toMs() + TOLD_MS, units);
    }

    /** What was granted in the writes that are lost is granted once more. */
    private static Credit lost(Limit limit, Happening one) {
        return new Credit(one.fromMs(), one.toMs() + TOLD_MS, refilled(limit, lostMs(one)));
    }

    /**
     * How long the writes were made for that are lost: a replica is behind by little, unless it was cut off; and a primary that is
     * well takes writes until it hears that it no longer is one.
     */
    static long lostMs(Happening one) {
        return switch (one.kind()) {
            case CRASH -> LOST_MS;
            case LOSING -> LOST_MS + one.incident().lastsMs();
            case FAILOVER -> one.toMs() - one.fromMs();
            default -> 0;
        };
    }

    /** A process that was stopped between grant and call sends when it goes on. */
    private static Credit late(Limit limit, Happening one, int agents) {
        double units = one.kind() == Kind.PAUSE ? (double) agents * largest(limit) : 0;
        return new Credit(one.toMs(), one.toMs() + TOLD_MS, units);
    }

    static long largest(Limit limit) {
        return switch (limit) {
            case RPM -> 1;
            case ITPM -> LARGEST_INPUT;
            case OTPM -> LARGEST_OUTPUT;
        };
    }

    private static double refilled(Limit limit, long ms) {
        return Terms.FULL.perSecond(limit) * Math.min((double) ms, Terms.burstMs()) / 1_000;
    }
}
