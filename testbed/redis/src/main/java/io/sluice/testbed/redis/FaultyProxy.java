package io.sluice.testbed.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The cable between a client and one Redis, with faults that can be changed while it is in use.
 *
 * <pre>{@code
 * try (FaultyProxy cable = FaultyProxy.to(redis)) {
 *     Sluice sluice = Sluice.connect(cable.uri());
 *     cable.set(new Fault.Delay(Duration.ofMillis(80), Duration.ZERO));
 * }
 * }</pre>
 *
 * <p>It is for single servers: a cluster's nodes and a Sentinel set tell clients addresses of their own.
 */
public final class FaultyProxy implements AutoCloseable {
    private static final int BACKLOG = 50;

    private final ServerSocket server;
    private final RedisServer target;
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger cuts = new AtomicInteger();
    private final Set<ProxiedConnection> open = ConcurrentHashMap.newKeySet();
    private volatile Fault fault = new Fault.Pass();

    private FaultyProxy(ServerSocket server, RedisServer target) {
        this.server = server;
        this.target = target;
        ProxiedConnection.run("proxy-accept", this::accept);
    }

    /** A cable that lets everything pass, for a start. */
    public static FaultyProxy to(RedisServer target) {
        try {
            return new FaultyProxy(new ServerSocket(Ports.free(), BACKLOG, InetAddress.getLoopbackAddress()), target);
        } catch (IOException e) {
            throw new UncheckedIOException("no cable to " + target.uri(), e);
        }
    }

    /** The address for a client: {@code redis://127.0.0.1:<port>}. */
    public String uri() {
        return target.uri().replace(target.address() + ":" + target.port(), "127.0.0.1:" + port());
    }

    public int port() {
        return server.getLocalPort();
    }

    /** From now on this is what happens, also on the connections that stand. */
    public synchronized void set(Fault next) {
        fault = next;
    }

    /** From now on everything passes, what was held back first. */
    public void heal() {
        set(new Fault.Pass());
    }

    /** Ends every connection; what is on its way is lost. New ones are made as ever. */
    public void cut() {
        open.forEach(ProxiedConnection::cut);
    }

    /** How many connections there have been. */
    public int connections() {
        return accepted.get();
    }

    /** How many connections stand. */
    public int standing() {
        return open.size();
    }

    /** How often {@link Fault.CutBeforeReply} or {@link Fault.CutInReply} has happened. */
    public int cuts() {
        return cuts.get();
    }

    Fault fault() {
        return fault;
    }

    /** A fault that happens once has happened: to whoever changes it. */
    synchronized boolean happened(Fault once) {
        if (fault != once) {
            return false;
        }
        cuts.incrementAndGet();
        fault = new Fault.Pass();
        return true;
    }

    void ended(ProxiedConnection connection) {
        open.remove(connection);
    }

    private void accept() throws IOException {
        while (!server.isClosed()) {
            Socket client = server.accept();
            accepted.incrementAndGet();
            if (fault instanceof Fault.Refuse) {
                ProxiedConnection.reset(client);
                continue;
            }
            try {
                Socket redis = new Socket(target.address(), target.port());
                ProxiedConnection connection = new ProxiedConnection(this, client, redis);
                open.add(connection);
                connection.start();
            } catch (IOException redisIsDown) {
                ProxiedConnection.reset(client);
            }
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        heal();
        cut();
    }
}
