package io.sluice.server.permit;

import io.sluice.Desk.Asking;
import io.sluice.Desk.Handout;
import io.sluice.WaitListener.Waiting;
import io.sluice.server.security.Caller;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Asks at the desk, and remembers which agent a waiting id is of, so that who ends a wait need not say that again.
 */
@Component
class Waits {
    private final Desks desks;
    private final Map<Key, String> callers = new ConcurrentHashMap<>();

    Waits(Desks desks) {
        this.desks = desks;
    }

    /** A permit, once there is one. Who stops listening is gone: its place goes too. No thread waits. */
    Mono<Handout> ask(String project, Caller caller, @Nullable String id, Asking asking, Consumer<Waiting> news) {
        return Mono.defer(() -> {
            Key key = id == null ? null : new Key(project, caller.name(), id);
            if (key != null) {
                callers.put(key, asking.caller());
            }
            Mono<Handout> hand = desks.of(project)
                    .flatMap(desk ->
                            Mono.fromFuture(() -> desk.acquire(asking, news).toCompletableFuture()));
            return hand.doFinally(ended -> {
                if (key != null) {
                    callers.remove(key, asking.caller());
                }
            });
        });
    }

    /** Whose wait it is, if it waits here. */
    Optional<String> caller(String project, Caller caller, String id) {
        return Optional.ofNullable(callers.get(new Key(project, caller.name(), id)));
    }

    private record Key(String project, String token, String id) {}
}
