package io.sluice;

/**
 * A streamed answer being read, chunk by chunk, wherever the network cut it. Not thread-safe. Keeps at most one event
 * of the stream, and of that at most 1 MiB: a longer one is passed over.
 */
public interface AnswerStream {

    /** The next bytes. Never throws for what they hold. */
    void feed(byte[] bytes, int offset, int length);

    /** All of a chunk. */
    default void feed(byte[] bytes) {
        feed(bytes, 0, bytes.length);
    }

    /**
     * What the stream says so far; called at its end, however it ended. An event without its closing blank line counts
     * if it is whole.
     */
    Reading end();
}
