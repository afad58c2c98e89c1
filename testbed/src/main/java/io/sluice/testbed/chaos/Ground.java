package io.sluice.testbed.chaos;

import io.sluice.testbed.redis.RedisServer;
import java.util.function.LongSupplier;

/** The Redis of a leg, and what can be done to it. */
sealed interface Ground extends AutoCloseable permits SentinelGround, CableGround {

    static Ground of(Leg leg) {
        return leg == Leg.SENTINEL ? new SentinelGround() : new CableGround();
    }

    /** The address for the fleet. */
    String fleetUri();

    /** The address for whoever installs policies, which no fault of a cable is for. */
    String adminUri();

    /** The server that is asked what a project holds. */
    RedisServer redis();

    /**
     * Makes it happen; returns when the fault is over.
     *
     * @param now the provider's clock
     * @return since when no host reached Redis, or -1
     */
    long cause(Incident incident, LongSupplier now) throws InterruptedException;

    /** What a fault left to be mended before the next. */
    void mend();

    @Override
    void close();

    static IllegalArgumentException notHere(Incident incident) {
        return new IllegalArgumentException("not on this ground: " + incident.kind());
    }
}
