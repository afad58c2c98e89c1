package io.sluice.testbed.bench;

/** One way to take and give back one call's budget. Thread-safe. */
interface Contender extends AutoCloseable {

    /** As the table names it. */
    String label();

    /** Puts back what it needs in a Redis that was just emptied. */
    default void prepare() {}

    /**
     * Takes one call's budget.
     *
     * @return the other half of the pair, to be run once
     * @throws IllegalStateException if it was refused: nothing here ever should be
     */
    Runnable acquire();

    /** The time Redis spent on its commands, in µs: each counted once, those inside a script with the script. */
    default double commandMicros(CommandStats stats) {
        return stats.scriptMicros();
    }

    @Override
    void close();
}
