package io.sluice.server.permit;

import io.sluice.Desk;
import io.sluice.provider.Profiles;
import io.sluice.server.config.Link;
import io.sluice.server.problem.Problem;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * The desk of each project. Stops before the web server does: whoever waits is told at once, with its place kept for when it
 * asks again, at another server.
 */
@Component
class Desks implements SmartLifecycle {
    private static final Pattern PROJECT = Pattern.compile("[a-z0-9][a-z0-9._-]{0,62}");

    private final Link link;
    private final Map<String, Desk> desks = new ConcurrentHashMap<>();
    private volatile boolean running;
    private volatile boolean stopped;

    Desks(Link link) {
        this.link = link;
    }

    /** The desk; 404 if there is no such project, of which then nothing is kept. */
    Mono<Desk> of(String project) {
        return Mono.defer(() -> {
            if (!PROJECT.matcher(project).matches()) {
                throw new Problem(404, "no_project", "no project can have this id");
            }
            Desk open = desks.get(project);
            return open != null
                    ? Mono.just(open)
                    : Mono.fromFuture(
                                    () -> link.sluice()
                                            .admin()
                                            .installed(project)
                                            .toCompletableFuture(),
                                    true)
                            .map(there -> desk(project));
        });
    }

    private Desk desk(String project) {
        Desk desk = desks.computeIfAbsent(project, id -> link.sluice().desk(id, Profiles::of));
        if (stopped) {
            desk.closeLine(); // asked for as the others were closed
        }
        return desk;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        stopped = true;
        desks.values().forEach(Desk::closeLine);
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
