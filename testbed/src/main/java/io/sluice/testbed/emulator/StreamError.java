package io.sluice.testbed.emulator;

/**
 * Streams that fail under way, after HTTP 200.
 *
 * @param share of the streamed calls, evenly spread; default 1
 * @param after events with output before it, 0 to 1,000,000; default 3. A shorter stream fails before its end
 * @param what default overload
 */
record StreamError(double share, int after, What what) {

    /** What the client sees. */
    enum What {
        /** The provider's error for too much load. */
        OVERLOAD,
        /** Its error for a limit of requests, with a wait of {@value #WAIT_S} s where it names one. */
        REQUESTS,
        /** Its error for a fault of its own. */
        SERVER,
        /** The connection ends without a word. */
        CUT
    }

    static final int WAIT_S = 3;

    static StreamError of(Settings settings) {
        return new StreamError(
                settings.share("share", 1),
                Math.toIntExact(settings.whole("after", 0, 1_000_000, 3)),
                settings.word("kind", What.class, What.OVERLOAD));
    }
}
