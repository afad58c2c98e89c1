package io.sluice.server.permit;

import io.sluice.Desk.Asking;
import io.sluice.Desk.Handout;
import io.sluice.WaitListener.Waiting;
import io.sluice.server.security.Caller;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Asks at the desk, and remembers which agent a waiting id is of, so that who ends a wait need not say that again.
 */
@Component
class Waits {
    private final Desks desks;

    /** Once for each question: one id may be asked with by several, and each of them may end first. */
    private final Map<Key, Deque<String>> callers = new ConcurrentHashMap<>();

    Waits(Desks desks) {
        this.desks = desks;
    }

    /** A permit, once there is one. Who stops listening is gone: its place goes too. No thread waits. */
    Mono<Handout> ask(
            String project,
            ServerHttpRequest request,
            Caller caller,
            @Nullable String id,
            Asking asking,
            Consumer<Waiting> news) {
        return Mono.defer(() -> {
            Key key = id == null ? null : new Key(project, caller.name(), id);
            if (key != null) {
                enters(key, asking.caller());
            }
            Mono<Handout> hand = desks.of(project, request)
                    .flatMap(desk ->
                            Mono.fromFuture(() -> desk.acquire(asking, news).toCompletableFuture()));
            return hand.doFinally(ended -> {
                if (key != null) {
                    leaves(key, asking.caller());
                }
            });
        });
    }

    private void enters(Key key, String caller) {
        callers.compute(key, (id, others) -> {
            Deque<String> all = others == null ? new ConcurrentLinkedDeque<>() : others;
            all.add(caller);
            return all;
        });
    }

    private void leaves(Key key, String caller) {
        callers.computeIfPresent(key, (id, all) -> {
            all.removeFirstOccurrence(caller);
            return all.isEmpty() ? null : all;
        });
    }

    /** Whose wait it is, if it waits here. */
    Optional<String> caller(String project, Caller caller, String id) {
        Deque<String> all = callers.get(new Key(project, caller.name(), id));
        return Optional.ofNullable(all == null ? null : all.peekLast());
    }

    private record Key(String project, String token, String id) {}
}
