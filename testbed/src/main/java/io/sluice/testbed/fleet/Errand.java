package io.sluice.testbed.fleet;

/** One call of an agent from the wish to its end, which is told once. All of it runs on the loop of its process. */
interface Errand {
    void begin();

    /** Not to be sent any more, if it is not in flight. */
    void drop();

    /** Cuts off what is in flight. */
    void abort();
}
