package io.sluice.testbed.chaos;

import static io.sluice.testbed.chaos.Kind.CRASH;
import static io.sluice.testbed.chaos.Kind.DELAY;
import static io.sluice.testbed.chaos.Kind.EMPTY;
import static io.sluice.testbed.chaos.Kind.FAILOVER;
import static io.sluice.testbed.chaos.Kind.KILL;
import static io.sluice.testbed.chaos.Kind.LIMITS;
import static io.sluice.testbed.chaos.Kind.LOSING;
import static io.sluice.testbed.chaos.Kind.LOST_REPLIES;
import static io.sluice.testbed.chaos.Kind.PARTITION;
import static io.sluice.testbed.chaos.Kind.PAUSE;
import static io.sluice.testbed.chaos.Kind.RESTART;
import static io.sluice.testbed.chaos.Kind.SCRIPTS;
import static io.sluice.testbed.chaos.Kind.STALL;
import static io.sluice.testbed.chaos.Kind.WEIGHTS;

import java.util.List;
import java.util.Locale;

/**
 * A part of the run, on a Redis of its own, for no set-up has every fault: Sentinels tell clients addresses that no cable
 * leads to, and what a Redis that lost everything had counted can no longer be compared with anything.
 */
enum Leg {
    SENTINEL("a primary, its replica and three Sentinels", 0.38),
    CABLE("one Redis with an append-only file, behind a cable that fails", 0.38),
    EMPTIED("one Redis that comes back empty", 0.24);

    final String label;
    /** Of the run's time. */
    final double share;

    Leg(String label, double share) {
        this.label = label;
        this.share = share;
    }

    /** Each as often as it stands here, in an order that the seed draws. */
    List<Kind> kinds() {
        return switch (this) {
            case SENTINEL -> List.of(KILL, PAUSE, SCRIPTS, LIMITS, WEIGHTS, CRASH, LOSING, FAILOVER);
            case CABLE -> List.of(KILL, PAUSE, SCRIPTS, LIMITS, RESTART, PARTITION, LOST_REPLIES, DELAY, STALL);
            case EMPTIED -> List.of(EMPTY, KILL, EMPTY, SCRIPTS, EMPTY, PAUSE);
        };
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether what Redis counted from beginning to end can be compared with the provider's log. */
    boolean keepsBooks() {
        return this != EMPTIED;
    }
}
