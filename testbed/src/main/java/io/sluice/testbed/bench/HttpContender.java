package io.sluice.testbed.bench;

import java.net.URI;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What is asked of a server over HTTP, by each thread on a connection of its own. */
abstract sealed class HttpContender implements Contender {
    private final Queue<Keepalive> open = new ConcurrentLinkedQueue<>();
    private final ThreadLocal<Keepalive> ofThread;

    private HttpContender(URI server, String token) {
        ofThread = ThreadLocal.withInitial(() -> {
            Keepalive connection = new Keepalive(server, token);
            open.add(connection);
            return connection;
        });
    }

    /** Sends it and takes one answer. */
    final String send(int expected, String method, String path, String body) {
        Keepalive.Reply reply = ofThread.get().send(method, path, body);
        if (reply.status() != expected) {
            throw new IllegalStateException(method + " " + path + ": " + reply);
        }
        return reply.body();
    }

    @Override
    public void close() {
        open.forEach(Keepalive::close);
    }

    /** The cheapest call there is that looks at a token and answers with JSON: nothing is asked of Redis. */
    static final class NoOp extends HttpContender {
        static final String LABEL = "GET /v1/me";

        NoOp(URI server, String token) {
            super(server, token);
        }

        @Override
        public String label() {
            return LABEL;
        }

        @Override
        public Runnable acquire() {
            send(200, "GET", "/v1/me", "");
            return () -> {};
        }
    }

    /** The call of {@link SluicePairs}, its permit taken and settled over HTTP. */
    static final class Permits extends HttpContender {
        static final String LABEL = "permit over HTTP";

        private static final String PERMITS = "/v1/projects/" + SluicePairs.PROJECT + "/permits";
        private static final String ASK = "{\"model\":\"" + SluicePairs.MODEL + "\",\"input_tokens\":" + CallSize.INPUT
                + ",\"max_output_tokens\":" + CallSize.OUTPUT_CAP + "}";
        private static final String USED = "{\"usage\":{\"input_tokens\":" + CallSize.INPUT
                + ",\"cache_read_tokens\":0,\"cache_write_tokens\":0,\"output_tokens\":" + CallSize.OUTPUT_USED + "}}";
        private static final String PERMIT = "\"permit\":\"";

        Permits(URI server, String token) {
            super(server, token);
        }

        @Override
        public String label() {
            return LABEL;
        }

        @Override
        public Runnable acquire() {
            String granted = send(201, "POST", PERMITS, ASK);
            int from = granted.indexOf(PERMIT) + PERMIT.length();
            String permit = granted.substring(from, granted.indexOf('"', from));
            return () -> send(200, "POST", PERMITS + "/" + permit + "/settle", USED);
        }
    }
}
