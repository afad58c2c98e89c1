package io.sluice.server.project;

import io.sluice.server.problem.Problem;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.context.SmartLifecycle;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/** Streams that have no end of their own: bounded in number, alive, and ended when the server stops. */
@Component
class Streams implements SmartLifecycle {
    static final int MOST = 500;
    private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(15);

    private final AtomicInteger open = new AtomicInteger();
    private final Sinks.Empty<Void> closing = Sinks.empty();
    private volatile boolean running;

    /** The same, with signs of life, until the server stops. */
    Flux<ServerSentEvent<Object>> open(Flux<ServerSentEvent<Object>> events) {
        // One at once: the answer begins with it, and a client sees that it is connected where nothing happens yet.
        Flux<ServerSentEvent<Object>> alive = Flux.interval(Duration.ZERO, SIGN_OF_LIFE)
                .onBackpressureDrop()
                .map(n -> ServerSentEvent.builder().comment("").build());
        return Flux.defer(() -> {
                    if (open.incrementAndGet() > MOST) {
                        return Flux.error(new Problem(503, "too_many_streams", MOST + " streams are open already")
                                .retryAfter(Duration.ofSeconds(10)));
                    }
                    return Flux.merge(events, alive).takeUntilOther(closing.asMono());
                })
                .doFinally(ended -> open.decrementAndGet());
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        closing.tryEmitEmpty();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** The last to start, the first to stop: before the web server waits for what is open. */
    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }
}
