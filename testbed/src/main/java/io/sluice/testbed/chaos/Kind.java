package io.sluice.testbed.chaos;

import java.util.Locale;

/**
 * What goes wrong.
 *
 * <p>An incident of a kind lasts {@code leastMs} to {@code mostMs}, where that is for us to say: a failover takes what it takes.
 * Then nothing else goes wrong for {@code restMs}.
 */
enum Kind {
    KILL("a process killed (SIGKILL) and replaced", 0, 0, 5_000),
    PAUSE("a process stopped for longer than its lease (SIGSTOP, SIGCONT)", 3_600, 6_000, 4_000),
    SCRIPTS("SCRIPT FLUSH", 0, 0, 1_500),
    LIMITS("every rate lowered to a part, and put back", 4_000, 8_000, 2_000),
    WEIGHTS("the priorities' weights changed, and put back", 3_000, 6_000, 1_500),
    CRASH("the primary killed, its replica takes over", 0, 0, 6_000),
    LOSING("the same, and the primary's last writes never reached the replica", 300, 1_000, 6_000),
    FAILOVER("failover while all is well", 0, 0, 5_000),
    RESTART("Redis killed and started again with its data", 300, 2_500, 4_000),
    PARTITION("Redis cut off from every host, both ways", 1_000, 5_000, 4_000),
    LOST_REPLIES("connections cut after the request and before the reply, again and again", 1_000, 3_000, 4_000),
    DELAY("every byte late by 20 to 100 ms, each way", 2_000, 5_000, 2_000),
    STALL("Redis takes requests and runs none (CLIENT PAUSE)", 300, 2_000, 4_000),
    EMPTY("Redis killed and started again with nothing in it", 0, 0, 5_000);

    final String label;
    final int leastMs;
    final int mostMs;
    final int restMs;

    Kind(String label, int leastMs, int mostMs, int restMs) {
        this.label = label;
        this.leastMs = leastMs;
        this.mostMs = mostMs;
        this.restMs = restMs;
    }

    /** One word or two: {@code lost replies}. */
    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /** Whether one of the fleet's processes is what it happens to. */
    boolean hitsOne() {
        return this == KILL || this == PAUSE;
    }

    /** How long it may take where it ends by itself: Sentinels need a second to notice and another to agree. */
    int usualMs() {
        return this == CRASH || this == LOSING || this == FAILOVER ? 3_000 : 0;
    }
}
