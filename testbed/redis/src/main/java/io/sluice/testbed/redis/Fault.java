package io.sluice.testbed.redis;

import java.time.Duration;

/** What a {@link FaultyProxy} does to what passes through it. */
public sealed interface Fault {

    /** Nothing. */
    record Pass() implements Fault {}

    /** Every byte comes later by so much, in order; nothing is lost. */
    record Delay(Duration toRedis, Duration toClient) implements Fault {}

    /** At most so many bytes a second each way, on each connection. */
    record Throttle(int bytesPerSecond) implements Fault {
        public Throttle {
            if (bytesPerSecond < 1) {
                throw new IllegalArgumentException("bytes per second must be at least 1, got " + bytesPerSecond);
            }
        }
    }

    /**
     * A black hole: connections stand and nothing comes through, as when packets are lost on the way. What was sent comes
     * through when it ends, as retransmission would have it, on connections that are still there.
     *
     * @param toRedis whether Redis no longer hears the client
     * @param toClient whether the client no longer hears Redis
     */
    record Hold(boolean toRedis, boolean toClient) implements Fault {}

    /** New connections are cut at once. Those that stand go on: {@link FaultyProxy#cut} ends them. */
    record Refuse() implements Fault {}

    /**
     * The next request with this text in it reaches Redis, and its connection is cut when the reply comes: it was done and
     * its caller does not know. That happens once; then everything passes.
     *
     * @param request what it contains, such as a script's SHA; empty for any
     */
    record CutBeforeReply(String request) implements Fault {}

    /**
     * As {@link CutBeforeReply}, but the reply's first bytes come through.
     *
     * @param bytes how many; a reply that is no longer comes through whole before the cut
     */
    record CutInReply(String request, int bytes) implements Fault {}
}
