package io.sluice;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * One provider project: the budget calls draw on. Thread-safe; made by {@link Sluice#project}.
 *
 * <p>All forms throw, or complete with, {@link RefusedException} for a "no" of Sluice and {@link OutageException} when
 * Redis cannot answer. The blocking forms refuse to run on threads that must not block (Netty's, Reactor's).
 */
public interface Project {

    /** The project's id. */
    String id();

    /** Asks once and never waits. */
    Decision tryAcquire(Call call);

    /** {@link #tryAcquire} without blocking. */
    CompletionStage<Decision> tryAcquireAsync(Call call);

    /**
     * Waits for a permit up to {@code maxWait}. Refused at once if the call's own wait is known to be longer.
     *
     * @param maxWait 0 asks once; very long values mean no deadline; at most the policy's {@code queue.max_wait} is used
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws InterruptedException if the thread is interrupted; nothing is left behind
     */
    Permit acquire(Call call, Duration maxWait) throws InterruptedException;

    /**
     * {@link #acquire} without blocking. Cancelling the returned future ends the wait, or the permit if it was granted
     * at that moment: nothing is left behind.
     */
    CompletionStage<Permit> acquireAsync(Call call, Duration maxWait);
}
