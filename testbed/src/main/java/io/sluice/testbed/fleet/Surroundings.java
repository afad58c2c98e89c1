package io.sluice.testbed.fleet;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * What the agents of a process share.
 *
 * @param loop one thread: whatever an agent does happens on it, one thing at a time
 * @param startNs the start signal, by {@link System#nanoTime}
 * @param tell hears what happens
 */
record Surroundings(
        Caller caller, Target target, ScheduledExecutorService loop, long startNs, Consumer<FleetEvent> tell) {

    /** An instant in ms after the start signal. */
    long sinceStartMs(long atNs) {
        return TimeUnit.NANOSECONDS.toMillis(atNs - startNs);
    }
}
