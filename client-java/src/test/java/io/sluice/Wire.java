package io.sluice;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The cable between a client and Redis: replies can be kept back, and it can be cut. */
final class Wire implements AutoCloseable {
    private final ServerSocket server;
    private final int target;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private volatile boolean keepsReplies;

    private Wire(ServerSocket server, int target) {
        this.server = server;
        this.target = target;
        run(this::accept);
    }

    static Wire to(int port) throws IOException {
        return new Wire(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), port);
    }

    String uri() {
        return "redis://127.0.0.1:" + server.getLocalPort();
    }

    /** From now on Redis hears the client and the client does not hear Redis. */
    void keepReplies() {
        keepsReplies = true;
    }

    /** Ends every connection. What was kept back is lost, new connections work. */
    void cut() {
        sockets.forEach(Wire::close);
        sockets.clear();
        keepsReplies = false;
    }

    private void accept() throws IOException {
        while (!server.isClosed()) {
            Socket client = server.accept();
            Socket redis = new Socket(InetAddress.getLoopbackAddress(), target);
            client.setTcpNoDelay(true);
            redis.setTcpNoDelay(true);
            sockets.addAll(List.of(client, redis));
            run(() -> copy(client, redis, false));
            run(() -> copy(redis, client, true));
        }
    }

    private void copy(Socket from, Socket to, boolean replies) throws IOException {
        byte[] buffer = new byte[8192];
        try (InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                if (!(replies && keepsReplies)) {
                    out.write(buffer, 0, n);
                }
            }
        }
    }

    private interface Copy {
        void run() throws IOException;
    }

    private static void run(Copy copy) {
        Thread thread = new Thread(
                () -> {
                    try {
                        copy.run();
                    } catch (IOException e) {
                        // The other side closed: what this is for.
                    }
                },
                "wire");
        thread.setDaemon(true);
        thread.start();
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        cut();
    }
}
