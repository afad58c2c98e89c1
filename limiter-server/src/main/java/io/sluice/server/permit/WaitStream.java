package io.sluice.server.permit;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.sluice.Desk.Asking;
import io.sluice.WaitListener.Waiting;
import io.sluice.server.problem.Causes;
import io.sluice.server.security.Caller;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A wait that tells its caller its place in line, as server-sent events. */
@Component
class WaitStream {
    /** So that neither proxies nor clients take a long wait for a dead connection. */
    private static final Duration SIGN_OF_LIFE = Duration.ofSeconds(15);

    private final Waits waits;

    WaitStream(Waits waits) {
        this.waits = waits;
    }

    /** {@code waiting} …, then {@code granted} or {@code refused}. */
    Flux<ServerSentEvent<Object>> of(String project, Caller caller, @Nullable String id, Asking asking) {
        return Flux.defer(() -> {
            Sinks.Many<Waiting> news = Sinks.many().unicast().onBackpressureBuffer();
            Mono<ServerSentEvent<Object>> end = waits.ask(project, caller, id, asking, news::tryEmitNext)
                    .map(handout -> event("granted", PermitView.of(handout)))
                    .onErrorResume(e -> Mono.just(event("refused", Causes.of(e).body())))
                    .doFinally(ended -> news.tryEmitComplete());
            Flux<ServerSentEvent<Object>> waiting =
                    news.asFlux().onBackpressureLatest().map(told -> event("waiting", Place.of(told)));
            Flux<ServerSentEvent<Object>> alive = Flux.interval(SIGN_OF_LIFE)
                    .onBackpressureDrop()
                    .map(n -> ServerSentEvent.builder().comment("waiting").build());
            return Flux.merge(waiting, alive, end).takeUntil(event -> isLast(event));
        });
    }

    private static boolean isLast(ServerSentEvent<Object> event) {
        return "granted".equals(event.event()) || "refused".equals(event.event());
    }

    private static ServerSentEvent<Object> event(String name, Object data) {
        return ServerSentEvent.builder(data).event(name).build();
    }

    /** Where a call stands. */
    record Place(
            int position,
            String scope,
            String limit,
            long waitMs,
            @JsonProperty("estimate") boolean isEstimate) {
        static Place of(Waiting waiting) {
            return new Place(
                    waiting.position(),
                    waiting.scope(),
                    waiting.limit(),
                    Math.max(1, waiting.expected().toMillis()),
                    waiting.estimate());
        }
    }
}
