package io.sluice.server.project;

import io.sluice.server.problem.Accepts;
import io.sluice.server.problem.Causes;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.tags.Tag;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Who holds the budget, who waits on what, and who is merely quiet. */
@RestController
@RequestMapping("/v1/projects/{project}/status")
@Tag(name = "status")
class StatusController {
    private static final Duration EVERY = Duration.ofSeconds(1);

    private final Questions questions;
    private final Streams streams;

    /** One question a second and project, however many look. */
    private final Map<String, Flux<ServerSentEvent<Object>>> shared = new ConcurrentHashMap<>();

    StatusController(Questions questions, Streams streams) {
        this.questions = questions;
        this.streams = streams;
    }

    @Operation(
            summary =
                    "How a project stands; with Accept: text/event-stream an event status each second, or outage where "
                            + "there is no answer")
    @GetMapping
    Mono<? extends ResponseEntity<?>> status(
            @PathVariable String project,
            @RequestHeader(name = "Accept", defaultValue = MediaType.ALL_VALUE) String accept) {
        Questions.project(project);
        if (!Accepts.rather(accept, MediaType.TEXT_EVENT_STREAM)) {
            return now(project)
                    .map(status -> ResponseEntity.ok()
                            .contentType(MediaType.APPLICATION_JSON)
                            .body(status));
        }
        // Asked once first: whoever asks for a project that there is not gets a plain answer.
        return now(project)
                .map(first -> ResponseEntity.ok()
                        .contentType(MediaType.TEXT_EVENT_STREAM)
                        .body(streams.open(shared(project))));
    }

    private Mono<StatusView> now(String project) {
        return questions
                .ask(admin -> admin.status(project))
                .map(status -> StatusView.of(project, status, Instant.now()));
    }

    private Flux<ServerSentEvent<Object>> shared(String project) {
        return shared.computeIfAbsent(
                        project,
                        id -> Flux.interval(Duration.ZERO, EVERY)
                                .onBackpressureDrop()
                                .concatMap(n -> event(id), 1)
                                .doFinally(ended -> shared.remove(id))
                                .replay(1)
                                .refCount(1))
                .onBackpressureLatest();
    }

    private Mono<ServerSentEvent<Object>> event(String project) {
        return now(project)
                .map(status ->
                        ServerSentEvent.<Object>builder(status).event("status").build())
                .onErrorResume(e ->
                        Mono.just(ServerSentEvent.<Object>builder(Causes.of(e).body())
                                .event("outage")
                                .build()));
    }
}
