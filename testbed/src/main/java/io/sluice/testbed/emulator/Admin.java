package io.sluice.testbed.emulator;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The judge's side: the log, the stats and a way to start over. */
final class Admin {
    /** Lines rendered at a time: a few milliseconds of one thread, whatever the log's length. */
    private static final int CHUNK = 1_000;

    private static final int MOST_BEHAVIOUR = 10_000;
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Enforcer enforcer;

    Admin(Enforcer enforcer) {
        this.enforcer = enforcer;
    }

    static boolean serves(HttpServerRequest request) {
        return request.uri().startsWith("/_");
    }

    Mono<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        QueryStringDecoder query = new QueryStringDecoder(request.uri());
        return switch (request.method().name() + " " + query.path()) {
            case "GET /_log" -> log(query, response);
            case "GET /_stats" -> json(response, 200, enforcer.stats().toString());
            case "POST /_behave" -> behave(request, response);
            case "POST /_reset" ->
                enforcer.reset()
                        ? response.status(204).send().then()
                        : json(response, 409, "{\"error\":\"calls are in flight\"}");
            default ->
                json(response, 404, "{\"error\":\"known are GET /_log, GET /_stats, POST /_behave, POST /_reset\"}");
        };
    }

    private Mono<Void> behave(HttpServerRequest request, HttpServerResponse response) {
        return Calls.body(request, MOST_BEHAVIOUR).flatMap(body -> {
            String problem = body.size() > MOST_BEHAVIOUR
                    ? "more than " + MOST_BEHAVIOUR + " bytes"
                    : behave(body.toString(StandardCharsets.UTF_8));
            return problem == null
                    ? response.status(204).send().then()
                    : json(
                            response,
                            400,
                            JSON.createObjectNode().put("error", problem).toString());
        });
    }

    /** What is wrong with it; {@code null} if it was done. */
    private @Nullable String behave(String body) {
        try {
            JsonNode change = JSON.readTree(body);
            if (!change.isObject()) {
                return "not a JSON object";
            }
            enforcer.behave(now -> now.with(change));
            return null;
        } catch (JacksonException e) {
            return "not valid JSON: " + e.getOriginalMessage();
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    private Mono<Void> log(QueryStringDecoder query, HttpServerResponse response) {
        long since;
        try {
            since = Long.parseLong(
                    query.parameters().getOrDefault("since", List.of("0")).get(0));
        } catch (NumberFormatException e) {
            return json(response, 400, "{\"error\":\"since is no whole number\"}");
        }
        DecisionLog log = enforcer.log();
        // What is decided while the answer goes out belongs to the next one.
        long last = log.lastSeq();
        Flux<byte[]> chunks = Flux.generate(() -> since, (seq, sink) -> {
            List<DecisionLog.Entry> entries = log.after(seq, last, CHUNK);
            if (entries.isEmpty()) {
                sink.complete();
                return seq;
            }
            sink.next(LogLine.render(entries));
            return entries.get(entries.size() - 1).seq();
        });
        return response.header(HttpHeaderNames.CONTENT_TYPE, "application/x-ndjson")
                .sendByteArray(chunks)
                .then();
    }

    private static Mono<Void> json(HttpServerResponse response, int status, String body) {
        return response.status(status)
                .header(HttpHeaderNames.CONTENT_TYPE, "application/json")
                .send(Mono.just(Unpooled.wrappedBuffer(body.getBytes(StandardCharsets.UTF_8))))
                .then();
    }
}
