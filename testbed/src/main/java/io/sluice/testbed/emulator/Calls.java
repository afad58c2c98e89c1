package io.sluice.testbed.emulator;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.sluice.testbed.emulator.Decision.Accepted;
import io.sluice.testbed.emulator.Decision.Rejected;
import io.sluice.testbed.emulator.Decision.Running;
import io.sluice.testbed.emulator.Dialect.Ask;
import io.sluice.testbed.emulator.Dialect.Reply;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * The provider's own paths: reads a request, has it decided, and sends the answer as it is produced. A call ends when all
 * of its output was produced, just before its last bytes go out, so that a client that has seen the end of an answer
 * never meets its own slot; a client that leaves earlier ends it there.
 */
final class Calls {
    /** Anthropic's cap on a request to the Messages API. */
    private static final int MOST_BYTES = 32 << 20;

    private final Dialect dialect;
    private final Enforcer enforcer;
    private final Scheduler pace;
    private final InstantSource time;
    private final AtomicLong ids = new AtomicLong();

    Calls(Dialect dialect, Enforcer enforcer, Scheduler pace, InstantSource time) {
        this.dialect = dialect;
        this.enforcer = enforcer;
        this.pace = pace;
        this.time = time;
    }

    Mono<Void> answer(HttpServerRequest request, HttpServerResponse response) {
        response.header(HttpHeaderNames.DATE, DateFormatter.format(Date.from(time.instant())));
        return body(request, MOST_BYTES).flatMap(body -> {
            if (body.size() > MOST_BYTES) {
                response.keepAlive(false);
                return send(response, dialect.error(413, "Request exceeds the maximum size", ids.incrementAndGet()));
            }
            return answer(incoming(request, body.toString(StandardCharsets.UTF_8)), response);
        });
    }

    private Mono<Void> answer(Incoming incoming, HttpServerResponse response) {
        long id = ids.incrementAndGet();
        Ask ask;
        try {
            ask = dialect.read(incoming, id);
        } catch (BadRequest e) {
            return send(response, dialect.error(400, e.getMessage(), id));
        }
        if (ask instanceof Ask.Generate generate) {
            return run(generate.call(), generate.answer(), id, response);
        }
        return send(response, ((Ask.Plain) ask).reply());
    }

    /** However the answer ends, or if it never starts because the client is gone, the call does not outlive it. */
    private Mono<Void> run(Call call, Answer answer, long id, HttpServerResponse response) {
        return Mono.using(
                () -> enforcer.decide(call, id),
                decision -> decision instanceof Accepted accepted
                        ? produce(accepted, answer, response)
                        : send(response, wrongly(dialect.rejection((Rejected) decision))),
                decision -> {
                    if (decision instanceof Accepted accepted) {
                        enforcer.abort(accepted.running());
                    }
                });
    }

    private Mono<Void> produce(Accepted accepted, Answer answer, HttpServerResponse response) {
        Running running = accepted.running();
        Call call = running.call;
        StreamError error = accepted.streamError();
        long most = error == null ? Long.MAX_VALUE : error.after();
        Flux<Long> slices = Production.of(call, most, pace, tokens -> enforcer.produced(running, tokens));
        dialect.headers(accepted.standing(), accepted.id()).forEach(response::header);
        if (!call.streams()) {
            Mono<ByteBuf> whole = slices.then(Mono.fromSupplier(() -> {
                enforcer.finish(running);
                return bytes(answer.whole());
            }));
            return response.header(HttpHeaderNames.CONTENT_TYPE, "application/json")
                    .send(whole)
                    .then();
        }
        Flux<ByteBuf> events = Flux.concat(
                        Mono.fromSupplier(answer::opening),
                        slices.filter(tokens -> tokens > 0).map(answer::delta),
                        Mono.fromSupplier(() -> error == null ? finish(running, answer) : fail(running, error, answer)))
                .filter(text -> !text.isEmpty())
                .map(Calls::bytes);
        if (error != null && error.what() == StreamError.What.CUT) {
            events = events.concatWith(hangUp(response));
        }
        return response.header(HttpHeaderNames.CONTENT_TYPE, answer.streamType())
                .header(HttpHeaderNames.CACHE_CONTROL, "no-cache")
                .send(events, bytes -> true)
                .then();
    }

    private String finish(Running running, Answer answer) {
        enforcer.finish(running);
        return answer.closing();
    }

    private String fail(Running running, StreamError error, Answer answer) {
        enforcer.fail(running);
        return answer.failure(error.what());
    }

    /** Ends the connection without the end of the answer. */
    private static Mono<ByteBuf> hangUp(HttpServerResponse response) {
        return Mono.create(never ->
                response.withConnection(connection -> connection.channel().close()));
    }

    /** A rejection as the provider's lies have it. */
    private Reply wrongly(Reply reply) {
        Set<Lie> lies = enforcer.behaviour().lies;
        String wait = reply.headers().get("retry-after");
        if (wait == null || !(lies.contains(Lie.RETRY_AFTER_DATE) || lies.contains(Lie.RETRY_AFTER_JUNK))) {
            return reply;
        }
        Map<String, String> headers = new LinkedHashMap<>(reply.headers());
        Instant until = time.instant().plusSeconds(Long.parseLong(wait));
        headers.put(
                "retry-after", lies.contains(Lie.RETRY_AFTER_JUNK) ? "soon" : DateFormatter.format(Date.from(until)));
        headers.remove("retry-after-ms");
        return new Reply(reply.status(), headers, reply.body());
    }

    private static Mono<Void> send(HttpServerResponse response, Reply reply) {
        for (Map.Entry<String, String> header : reply.headers().entrySet()) {
            response.header(header.getKey(), header.getValue());
        }
        return response.status(reply.status())
                .header(HttpHeaderNames.CONTENT_TYPE, "application/json")
                .send(Mono.just(bytes(reply.body())))
                .then();
    }

    /** The body, or a little more than is allowed of one that is too large. */
    static Mono<ByteArrayOutputStream> body(HttpServerRequest request, int most) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(512);
        return request.receive()
                .asByteArray()
                .takeUntil(part -> {
                    bytes.writeBytes(part);
                    return bytes.size() > most;
                })
                .then(Mono.just(bytes));
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String query(String uri) {
        int from = uri.indexOf('?');
        return from < 0 ? "" : uri.substring(from + 1);
    }

    private static Incoming incoming(HttpServerRequest request, String body) {
        return new Incoming(
                request.method().name(),
                request.fullPath(),
                query(request.uri()),
                name -> request.requestHeaders().get(name),
                body);
    }
}
