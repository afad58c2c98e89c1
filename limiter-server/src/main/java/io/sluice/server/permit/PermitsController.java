package io.sluice.server.permit;

import io.sluice.Desk;
import io.sluice.Desk.Asking;
import io.sluice.Desk.Handout;
import io.sluice.Desk.Report;
import io.sluice.Permit.Ending;
import io.sluice.Permit.How;
import io.sluice.server.problem.Accepts;
import io.sluice.server.problem.Bodies;
import io.sluice.server.problem.Problem;
import io.sluice.server.security.Caller;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.tags.Tag;
import java.time.Instant;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Permits for agents in any language. */
@RestController
@RequestMapping("/v1/projects/{project}")
@Tag(name = "permits")
class PermitsController {
    /** Read where it came: below that all of a permit stays on one thread. */
    private static final int SMALL = 64 * 1024;

    private final Desks desks;
    private final Waits waits;
    private final WaitStream stream;
    private final Bodies bodies;
    private final Scheduler others;

    PermitsController(Desks desks, Waits waits, WaitStream stream, Bodies bodies, Scheduler others) {
        this.desks = desks;
        this.waits = waits;
        this.stream = stream;
        this.bodies = bodies;
        this.others = others;
    }

    @Operation(
            summary = "Asks for a permit, and waits in line for it up to max_wait_ms",
            description =
                    "201 a new permit, 200 the one this id has already, 429 wait, deadline, queue_full or hold, 422 never, "
                            + "closed, unknown_model or unpriced, 409 conflict, ended or cancelled, 503 outage. With Accept: "
                            + "text/event-stream the events waiting … then granted or refused.",
            requestBody =
                    @io.swagger.v3.oas.annotations.parameters.RequestBody(
                            content = @Content(schema = @Schema(implementation = AskBody.class))))
    @PostMapping("/permits")
    Mono<? extends ResponseEntity<?>> ask(
            @PathVariable String project,
            @AuthenticationPrincipal Caller caller,
            @RequestHeader(name = "Accept", defaultValue = MediaType.ALL_VALUE) String accept,
            ServerHttpRequest request,
            @RequestBody(required = false) byte @Nullable [] body) {
        if (Accepts.rather(accept, MediaType.TEXT_EVENT_STREAM)) {
            return question(caller, body)
                    .map(asked -> ResponseEntity.ok()
                            .contentType(MediaType.TEXT_EVENT_STREAM)
                            .body(stream.of(project, request, caller, asked.id(), asked.asking())));
        }
        return handed(project, caller, request, body)
                .map(handout -> ResponseEntity.status(status(handout))
                        .contentType(MediaType.APPLICATION_JSON)
                        .body(PermitView.of(handout)));
    }

    /** The same of a body that has been read, for who does not look at {@code Accept}. */
    Mono<Handout> handed(String project, Caller caller, ServerHttpRequest request, byte @Nullable [] body) {
        return question(caller, body)
                .flatMap(asked -> waits.ask(project, request, caller, asked.id(), asked.asking(), news -> {}));
    }

    private Mono<Question> question(Caller caller, byte @Nullable [] body) {
        return read(body, () -> {
            AskBody ask = bodies.read(body, AskBody.class);
            return new Question(ask.id(), ask.asking(caller));
        });
    }

    /** A large one elsewhere: whoever is served by the same thread would wait meanwhile, and Redis's answers too. */
    private <T> Mono<T> read(byte @Nullable [] body, Supplier<T> reading) {
        Mono<T> read = Mono.fromSupplier(reading);
        return body == null || body.length <= SMALL ? read : read.subscribeOn(others);
    }

    /** A permit that was handed out before is told as it was. */
    static HttpStatus status(Handout handout) {
        return handout.again() ? HttpStatus.OK : HttpStatus.CREATED;
    }

    @Operation(
            summary = "Ends a permit with what was used, or with the provider's answer, and says what to do now",
            requestBody =
                    @io.swagger.v3.oas.annotations.parameters.RequestBody(
                            content = @Content(schema = @Schema(implementation = SettleBody.class))))
    @PostMapping("/permits/{permit}/settle")
    Mono<EndingView.Settled> settle(
            @PathVariable String project,
            @PathVariable String permit,
            @AuthenticationPrincipal Caller caller,
            ServerHttpRequest request,
            @RequestBody(required = false) byte @Nullable [] body) {
        return settled(project, permit, caller, request, body);
    }

    @Operation(summary = "Keeps a permit for another lease; 410 once it has ended or was lost")
    @PostMapping("/permits/{permit}/renew")
    Mono<Renewed> renew(@PathVariable String project, @PathVariable String permit, ServerHttpRequest request) {
        return at(project, request, desk -> desk.renew(permit))
                .map(lease -> new Renewed(
                        lease.orElseThrow(() -> new Problem(410, "gone", "this permit has ended, or its lease ran out"))
                                .toMillis()));
    }

    @Operation(summary = "Gives a permit back: nothing was sent")
    @DeleteMapping("/permits/{permit}")
    Mono<EndingView> cancel(@PathVariable String project, @PathVariable String permit, ServerHttpRequest request) {
        return at(project, request, desk -> desk.cancel(permit)).map(ending -> EndingView.of(known(ending)));
    }

    @Operation(summary = "Ends a wait: its POST answers 409 cancelled")
    @DeleteMapping("/waits/{*id}")
    Mono<ResponseEntity<Void>> cancelWait(
            @PathVariable String project,
            @PathVariable String id,
            @RequestParam(required = false) @Nullable String agent,
            @AuthenticationPrincipal Caller caller,
            ServerHttpRequest request) {
        String wait = id.substring(1); // all that follows "/waits": the id may have slashes of its own
        String owner = agent != null
                ? Callers.of(caller, caller.agent(agent))
                : waits.caller(project, caller, wait).orElseGet(() -> Callers.of(caller, null));
        return at(project, request, desk -> desk.cancelWait(owner, wait)).map(was -> {
            if (!was) {
                throw Problem.unknown("no wait of this caller has this id; ?agent= names the agent it was asked for");
            }
            return ResponseEntity.noContent().build();
        });
    }

    Mono<EndingView.Settled> settled(
            String project, String permit, Caller caller, ServerHttpRequest request, byte @Nullable [] body) {
        return read(body, () -> report(caller, body))
                .flatMap(report -> at(project, request, desk -> desk.settle(permit, report)))
                .map(outcome -> EndingView.Settled.of(known(outcome.ending()), outcome.advice()));
    }

    private Report report(Caller caller, byte @Nullable [] body) {
        return bodies.readOr(body, SettleBody.class, SettleBody.EMPTY).report(caller, Instant.now());
    }

    /** What the desk says; a caller that hangs up takes nothing of it back. */
    private <T> Mono<T> at(String project, ServerHttpRequest request, Function<Desk, CompletionStage<T>> asked) {
        return desks.of(project, request)
                .flatMap(desk -> Mono.fromFuture(() -> asked.apply(desk).toCompletableFuture(), true));
    }

    /** Of whatever nobody knows nothing can be said. */
    private static Ending known(Ending ending) {
        if (ending.ended() == How.UNKNOWN) {
            throw Problem.unknown("no permit has this name, or it ended too long ago; nothing was booked");
        }
        return ending;
    }

    private record Question(@Nullable String id, Asking asking) {}

    /** How long the permit lives from now. */
    record Renewed(long leaseMs) {}
}
