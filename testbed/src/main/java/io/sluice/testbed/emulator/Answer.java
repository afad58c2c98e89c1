package io.sluice.testbed.emulator;

/**
 * How one accepted call is answered, whole or as a stream. Made for the call, so it may keep what its stream has said; its
 * stream is read once, from one end to the other.
 */
interface Answer {

    /** A whole answer, as JSON. */
    String whole();

    /** The first events of a stream. */
    String opening();

    /** The events that carry {@code tokens} more of the answer. */
    String delta(long tokens);

    /** The last events, after all of the output. */
    String closing();

    /** The event that ends a stream that fails; empty if there is none. */
    String failure(StreamError.What what);

    /** What a stream's content type is. */
    default String streamType() {
        return "text/event-stream; charset=utf-8";
    }
}
