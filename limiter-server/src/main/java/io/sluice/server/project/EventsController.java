package io.sluice.server.project;

import io.sluice.Admin;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.tags.Tag;
import java.math.BigInteger;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
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
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** What happens, as it happens. */
@RestController
@RequestMapping("/v1/projects/{project}/events")
@Tag(name = "status")
class EventsController {
    private static final Pattern ID = Pattern.compile("[0-9]{1,20}(-[0-9]{1,20})?");
    private static final Duration EVERY = Duration.ofMillis(500);
    private static final int AT_A_TIME = 500;

    private final Questions questions;
    private final Streams streams;
    private final JsonMapper json;

    EventsController(Questions questions, Streams streams, JsonMapper json) {
        this.questions = questions;
        this.streams = streams;
        this.json = json;
    }

    @Operation(
            summary =
                    "Server-sent events permit, wait, rejection, hold, policy and lost; Last-Event-ID resumes within the "
                            + "last 1,000 or so")
    @GetMapping
    Mono<ResponseEntity<Flux<ServerSentEvent<Object>>>> events(
            @PathVariable String project,
            @RequestHeader(name = "Last-Event-ID", required = false) @Nullable String lastEventId) {
        Questions.project(project);
        // Asked once first: whoever asks for a project that there is not gets a plain answer.
        return questions
                .ask(admin -> admin.events(project, "$", 1))
                .map(newest -> from(lastEventId, idOf(newest)))
                .map(from -> ResponseEntity.ok()
                        .contentType(MediaType.TEXT_EVENT_STREAM)
                        .body(streams.open(after(project, from))));
    }

    /** Of a project in which nothing happened yet: all that will. */
    private static String idOf(List<Admin.Event> newest) {
        return newest.isEmpty() ? "0" : newest.get(newest.size() - 1).id();
    }

    /** After what the caller had last, if that can have been: after an id that is still to come it would wait for ever. */
    static String from(@Nullable String last, String newest) {
        return last == null || !ID.matcher(last).matches() || millis(last).compareTo(millis(newest)) > 0
                ? newest
                : last;
    }

    /** Of {@code 1796065626724-0}, before which any number of digits may stand. */
    private static BigInteger millis(String id) {
        int dash = id.indexOf('-');
        return new BigInteger(dash < 0 ? id : id.substring(0, dash));
    }

    private Flux<ServerSentEvent<Object>> after(String project, String from) {
        AtomicReference<String> last = new AtomicReference<>(from);
        return Flux.interval(Duration.ZERO, EVERY)
                .onBackpressureDrop()
                .concatMap(
                        n -> questions
                                .ask(admin -> admin.events(project, last.get(), AT_A_TIME))
                                .onErrorReturn(List.of()), // told by the status; events go on where they stopped
                        1)
                .concatMapIterable(events -> events)
                .doOnNext(event -> last.set(event.id()))
                .map(event -> ServerSentEvent.<Object>builder(told(event))
                        .id(event.id())
                        .event(event.type())
                        .build());
    }

    /** Its data, with when it happened. */
    private Object told(Admin.Event event) {
        ObjectNode told = json.createObjectNode().put("at", event.at().toString());
        if (json.readTree(event.data()) instanceof ObjectNode data) {
            told.setAll(data);
        }
        return told;
    }
}
