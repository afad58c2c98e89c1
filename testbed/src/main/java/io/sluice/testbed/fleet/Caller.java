package io.sluice.testbed.fleet;

import java.util.function.BiConsumer;

/** How a process makes its calls: one implementation a {@link Strategy}. Thread-safe, and holds no thread. */
interface Caller extends AutoCloseable {

    /** A call that has not begun yet. {@code done} is told of its end, once. */
    Errand errand(Work work, Surroundings around, BiConsumer<Errand, FleetEvent.Call> done);

    /** Does once what only a first call has to, so that all processes ask alike from the first second on. Takes no budget. */
    default void warmUp(Work work) {}

    @Override
    void close();
}
