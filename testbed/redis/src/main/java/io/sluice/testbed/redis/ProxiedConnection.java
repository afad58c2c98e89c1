package io.sluice.testbed.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One client's connection through a {@link FaultyProxy}. Each way has a thread that reads and one that writes, so that what
 * is late does not hold up what comes after it.
 */
final class ProxiedConnection {
    private static final int PIECE = 8_192;
    private static final int PIECES = 1_024;
    private static final long POLL_MS = 2;
    private static final long FINISH_MS = 2_000;

    private final FaultyProxy proxy;
    private final Socket client;
    private final Socket redis;

    /** The fault that waits for the reply on this connection. */
    private volatile @Nullable Fault marked;

    ProxiedConnection(FaultyProxy proxy, Socket client, Socket redis) throws IOException {
        this.proxy = proxy;
        this.client = client;
        this.redis = redis;
        client.setTcpNoDelay(true);
        redis.setTcpNoDelay(true);
    }

    void start() {
        way("to-redis", client, redis, true);
        way("to-client", redis, client, false);
    }

    private void way(String name, Socket from, Socket to, boolean toRedis) {
        BlockingQueue<Piece> pieces = new LinkedBlockingQueue<>(PIECES);
        run("proxy-read-" + name, () -> read(from, pieces, toRedis));
        run("proxy-write-" + name, () -> write(to, pieces, toRedis));
    }

    /** Some bytes and when they may be written; none end the connection. */
    private static final class Piece {
        final byte[] bytes;
        final long dueNs;

        Piece(byte[] bytes, long dueNs) {
            this.bytes = bytes;
            this.dueNs = dueNs;
        }

        boolean isEnd() {
            return bytes.length == 0;
        }
    }

    private void read(Socket from, BlockingQueue<Piece> pieces, boolean toRedis) throws InterruptedException {
        byte[] buffer = new byte[PIECE];
        try {
            InputStream in = from.getInputStream();
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                long due = System.nanoTime()
                        + (proxy.fault() instanceof Fault.Delay delay
                                ? (toRedis ? delay.toRedis() : delay.toClient()).toNanos()
                                : 0);
                pieces.put(new Piece(Arrays.copyOf(buffer, n), due));
            }
        } catch (IOException ended) {
            // One side is gone: the other hears of it in its turn.
        }
        pieces.put(new Piece(new byte[0], System.nanoTime()));
    }

    private void write(Socket to, BlockingQueue<Piece> pieces, boolean toRedis)
            throws IOException, InterruptedException {
        try {
            OutputStream out = to.getOutputStream();
            for (Piece piece = pieces.take(); !piece.isEnd(); piece = pieces.take()) {
                sleepUntil(piece.dueNs);
                while (holds(toRedis)) {
                    Thread.sleep(POLL_MS);
                }
                Fault cut = toRedis ? null : marked;
                if (cut != null) {
                    finish(cut, piece.bytes, out, pieces);
                    break;
                }
                boolean last = toRedis && marks(piece.bytes);
                pass(piece.bytes, out);
                if (last) {
                    redis.shutdownOutput();
                    break;
                }
            }
        } finally {
            if (!toRedis || marked == null) {
                cut();
            }
        }
    }

    private boolean holds(boolean toRedis) {
        return !client.isClosed()
                && proxy.fault() instanceof Fault.Hold hold
                && (toRedis ? hold.toRedis() : hold.toClient());
    }

    /** Before the request goes on: its reply may be here before we are back. */
    private boolean marks(byte[] request) {
        Fault now = proxy.fault();
        String wanted = now instanceof Fault.CutBeforeReply cut
                ? cut.request()
                : now instanceof Fault.CutInReply cut ? cut.request() : null;
        boolean marks = wanted != null
                && new String(request, StandardCharsets.ISO_8859_1).contains(wanted)
                && proxy.happened(now);
        if (marks) {
            marked = now;
        }
        return marks;
    }

    /**
     * The reply that is here may be that of an earlier request. Redis was told that no more will come, so it has done all it
     * was sent when it closes.
     */
    private static void finish(Fault cut, byte[] reply, OutputStream out, BlockingQueue<Piece> pieces)
            throws IOException, InterruptedException {
        if (cut instanceof Fault.CutInReply part) {
            out.write(reply, 0, Math.min(part.bytes(), reply.length));
        }
        Piece next = pieces.poll(FINISH_MS, TimeUnit.MILLISECONDS);
        while (next != null && !next.isEnd()) {
            next = pieces.poll(FINISH_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void pass(byte[] bytes, OutputStream out) throws IOException, InterruptedException {
        int sent = 0;
        while (sent < bytes.length) {
            int size = bytes.length - sent;
            if (proxy.fault() instanceof Fault.Throttle throttle) {
                // In steps of a twentieth of a second, or of a byte where that is longer.
                size = Math.min(size, Math.max(1, throttle.bytesPerSecond() / 20));
                Thread.sleep(Duration.ofSeconds(1).toMillis() * size / throttle.bytesPerSecond());
            }
            out.write(bytes, sent, size);
            sent += size;
        }
    }

    private static void sleepUntil(long dueNs) throws InterruptedException {
        long left = dueNs - System.nanoTime();
        if (left > 0) {
            Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
        }
    }

    /** Ends it both ways. */
    void cut() {
        proxy.ended(this);
        close(client);
        close(redis);
    }

    /** Ends a connection that was never used, so that its client gets an error and no orderly end. */
    static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // It is closed already.
        }
        close(socket);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // Then it is gone as well.
        }
    }

    interface Work {
        void run() throws IOException, InterruptedException;
    }

    static void run(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException ended) {
                        // The other side closed: what this is for.
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }
}
