package io.sluice.testbed.emulator;

import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import org.reactivestreams.Publisher;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/**
 * A provider to test against, on a real socket. Speaks the provider's HTTP, keeps its limits as the provider does, and
 * answers for itself on four more paths:
 *
 * <ul>
 *   <li>{@code GET /_log?since=SEQ}: every decision after that one, oldest first, as NDJSON: {@code seq}, {@code t_ms} since
 *       start, {@code at}, {@code event} (accepted, rejected, finished, failed, aborted), {@code agent}, {@code model},
 *       {@code pool}, {@code kind} (of a rejection: requests, input, output, tokens, daily, spend, concurrency, credits,
 *       plan_window, acceleration, overload, server), {@code input},
 *       {@code cache_read}, {@code cache_write}, {@code charged} (of {@code tpm}, when it begins), {@code output} (produced;
 *       0 until the call ended), {@code in_flight} (of the pool, after it), {@code status} (499: the client left),
 *       {@code id} (the answer's request id)
 *   <li>{@code GET /_stats}: the sums since start or reset
 *   <li>{@code POST /_behave}: 204 and it behaves as the {@link Behaviour JSON} says; 400 with what is wrong with it
 *   <li>{@code POST /_reset}: 204 and counters, stats, log and behaviour are as new; 409 while calls are in flight
 * </ul>
 *
 * <p>A call's size may be stated in headers instead of sent as text, in tokens: {@code x-emulate-input-tokens} (fresh;
 * default: the text at 4 characters a token), {@code x-emulate-cache-read-tokens}, {@code x-emulate-cache-write-tokens}
 * (default 0), {@code x-emulate-output-tokens} (what would be produced, capped by the request; default 100). Also
 * {@code x-emulate-thinking-tokens} (the part of the output that is not shown; default 0), {@code x-emulate-duration-ms}
 * (acceptance to last token; default by output and pace) and {@code x-emulate-agent} (for the log).
 */
public final class Emulator implements AutoCloseable {
    private final LoopResources loops;
    private final Scheduler pace;
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final DisposableServer server;

    private Emulator(EmulatorOptions options) {
        Dialect dialect = Dialect.of(options);
        Enforcer enforcer = new Enforcer(options, dialect);
        loops = LoopResources.create(
                "emulator", Math.max(2, Runtime.getRuntime().availableProcessors()), true);
        pace = Schedulers.newParallel("emulator-pace", 2, true);
        Admin admin = new Admin(enforcer);
        Calls calls = new Calls(dialect, enforcer, pace, options.time());
        try {
            server = HttpServer.create()
                    .runOn(loops)
                    .host(options.host())
                    .port(options.port())
                    .channelGroup(connections)
                    .handle((request, response) -> {
                        Publisher<Void> answer = Admin.serves(request)
                                ? admin.answer(request, response)
                                : calls.answer(request, response);
                        return answer;
                    })
                    .bindNow();
        } catch (RuntimeException e) {
            stopThreads();
            throw e;
        }
    }

    /**
     * Starts one; it listens when this returns.
     *
     * @throws IllegalArgumentException if the provider is unknown or a limit could never admit anything
     * @throws reactor.netty.ChannelBindException if the port is taken
     */
    public static Emulator start(EmulatorOptions options) {
        return new Emulator(options);
    }

    /** The port it listens on. */
    public int port() {
        return server.port();
    }

    /** Where to send calls: {@code http://127.0.0.1:PORT}. */
    public URI uri() {
        InetSocketAddress address = (InetSocketAddress) server.address();
        String host = address.getAddress().isAnyLocalAddress() ? "127.0.0.1" : address.getHostString();
        return URI.create("http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port());
    }

    /** Stops listening and cuts every answer short. */
    @Override
    public void close() {
        // Not the server's own dispose: that waits for open answers to end.
        server.channel().close().awaitUninterruptibly(1_000);
        connections.close().awaitUninterruptibly(1_000);
        stopThreads();
    }

    private void stopThreads() {
        pace.dispose();
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block(Duration.ofSeconds(2));
    }
}
