package io.sluice.server.permit;

import io.sluice.Desk;
import io.sluice.provider.Profiles;
import io.sluice.server.config.Link;
import io.sluice.server.problem.Problem;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.springframework.context.SmartLifecycle;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;

/**
 * The desk of each project there is: an id that a token covers and nobody has installed leaves nothing here, however many are tried.
 * Stops before the web server does: whoever waits is told at once, with its place kept for when it asks again, at another server.
 */
@Component
class Desks implements SmartLifecycle {
    private static final Pattern PROJECT = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");

    /** For Redis to hear whose places are to be kept. */
    private static final long PATIENCE_S = 2;

    private final Link link;
    private final Map<String, Desk> desks = new ConcurrentHashMap<>();
    private volatile boolean running;
    private volatile boolean stopped;

    Desks(Link link) {
        this.link = link;
    }

    /** The desk; fails with 404 where there is no such project. */
    Mono<Desk> of(String project) {
        return Mono.fromFuture(() -> opened(project), true);
    }

    private CompletableFuture<Desk> opened(String project) {
        if (!PROJECT.matcher(project).matches()) {
            throw new Problem(404, "no_project", "no project can have this id");
        }
        Desk open = desks.get(project);
        return open != null
                ? CompletableFuture.completedFuture(open)
                : link.sluice()
                        .admin()
                        .installed(project)
                        .thenApply(installed -> desk(project))
                        .toCompletableFuture();
    }

    private Desk desk(String project) {
        Desk desk = desks.computeIfAbsent(project, id -> link.sluice().desk(id, Profiles::of));
        if (stopped) {
            desk.closeLine();
        }
        return desk;
    }

    /** The same for a caller, whose results come on the thread of its connection: answered there, they change threads no more. */
    Mono<Desk> of(String project, ServerHttpRequest request) {
        Connection here = ServerHttpRequestDecorator.getNativeRequest(request);
        return of(project).map(desk -> desk.on(here.channel().eventLoop()));
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    /** Those who wait are told at once; it is over when Redis has heard of all of them, or does not answer. */
    @Override
    public void stop(Runnable over) {
        running = false;
        stopped = true;
        CompletableFuture.allOf(desks.values().stream()
                        .map(desk -> desk.closeLine().toCompletableFuture())
                        .toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, PATIENCE_S, TimeUnit.SECONDS)
                .whenComplete((heard, e) -> over.run());
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** The last to start, the first to stop. */
    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }
}
