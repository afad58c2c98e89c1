package io.sluice.testbed.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Free ports of 127.0.0.1, from below the range that systems give to outgoing connections. A port of that range is lost
 * while its server is down: a client that keeps reconnecting is given it as its own and then talks to itself.
 */
final class Ports {
    private static final int FIRST = 15_000;
    private static final int LAST = 32_000;
    private static final int TRIES = 100;

    private Ports() {}

    /** A port that nobody listened on a moment ago; whoever uses it must be ready for another having been faster. */
    static int free() {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no free port between " + FIRST + " and " + LAST + " in " + TRIES + " tries");
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
