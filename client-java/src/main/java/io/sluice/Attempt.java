package io.sluice;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** One attempt of a call: it has a permit, and makes a {@link Response} of the provider's answer. */
public interface Attempt {

    /** Of a whole body and of a stream whose text is kept: 64 MiB. */
    int MAX_BODY_BYTES = 64 << 20;

    /** Which attempt of the call this is, from 1. */
    int number();

    /** Its permit. The call ends it; nobody else need. */
    Permit permit();

    /**
     * How many requests the call may still send, this one included. An SDK that repeats requests by itself may do so
     * {@code left() - 1} times.
     */
    int left();

    /**
     * Tells that a request leaves, with its headers. Only needed where more than one may: each counts as a request, and one
     * whose {@code X-Stainless-Retry-Count} says that others went before it counts for those too.
     */
    void sent(Map<String, List<String>> headers);

    /** A whole answer, read with the call's profile. */
    Response answered(int status, Map<String, List<String>> headers, String body);

    /** An answer that comes in pieces; all of it is kept. */
    Stream stream(int status, Map<String, List<String>> headers);

    /**
     * An answer that comes in pieces, each handed on as it comes and not kept. Once text went to the consumer the call is not
     * sent again, unless {@link CallOptions#restartsStreams()}: the consumer would see it twice. What comes with a status that is
     * none of success is kept for the {@link Response} and not handed on.
     */
    Stream stream(int status, Map<String, List<String>> headers, Consumer<byte[]> consumer);

    /** A streamed answer being read, where the network cut it. Not thread-safe. */
    interface Stream {

        /**
         * The next bytes.
         *
         * @throws IllegalStateException if it is kept and larger than {@link #MAX_BODY_BYTES}
         */
        void feed(byte[] bytes);

        /** Its end. If it was cut before, the sender throws what cut it: what came until then is booked. */
        Response end();

        /**
         * Reads a stream to its end; does not close it.
         *
         * @throws IOException as the stream does
         */
        default Response readAll(InputStream body) throws IOException {
            byte[] buffer = new byte[8192];
            for (int n = body.read(buffer); n >= 0; n = body.read(buffer)) {
                feed(Arrays.copyOf(buffer, n));
            }
            return end();
        }
    }
}
