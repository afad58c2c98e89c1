package io.sluice.server.permit;

import io.sluice.server.security.Caller;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.security.core.Authentication;
import org.springframework.stereotype.Component;
import org.springframework.util.unit.DataSize;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.handler.SimpleUrlHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;
import reactor.core.publisher.Mono;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

/**
 * Each call of an agent costs two of these: a permit asked for, and settled. Sent as nearly everybody sends them, JSON without
 * parameters, they go past Spring's way to a method and back, which takes longer than all the rest. Whatever is sent otherwise, right
 * or wrong, goes to the same methods of {@link PermitsController} by that way, and is answered the same.
 */
@Component
final class PlainCalls extends SimpleUrlHandlerMapping {
    private static final String PERMITS = "/v1/projects/{project}/permits";
    private static final byte[] NOTHING = {};

    private final PermitsController permits;
    private final int longest;
    private final ObjectWriter asked;
    private final ObjectWriter settled;

    PlainCalls(
            PermitsController permits,
            JsonMapper json,
            @Value("${spring.http.codecs.max-in-memory-size}") DataSize longest) {
        this.permits = permits;
        this.longest = Math.toIntExact(longest.toBytes());
        this.asked = json.writerFor(PermitView.class);
        this.settled = json.writerFor(EndingView.Settled.class);
        setOrder(Ordered.HIGHEST_PRECEDENCE);
        setUrlMap(Map.of(PERMITS, (WebHandler) this::ask, PERMITS + "/{permit}/settle", (WebHandler) this::settle));
    }

    @Override
    public Mono<Object> getHandlerInternal(ServerWebExchange exchange) {
        return isPlain(exchange.getRequest()) ? super.getHandlerInternal(exchange) : Mono.empty();
    }

    private static boolean isPlain(ServerHttpRequest request) {
        HttpHeaders headers = request.getHeaders();
        return request.getMethod().equals(HttpMethod.POST)
                && request.getURI().getRawQuery() == null
                && isJson(headers.getFirst(HttpHeaders.CONTENT_TYPE))
                && !headers.containsHeader(HttpHeaders.CONTENT_ENCODING)
                && headers.getOrEmpty(HttpHeaders.ACCEPT).stream()
                        .noneMatch(line -> line.toLowerCase(Locale.ROOT).contains("event-stream"));
    }

    private static boolean isJson(@Nullable String type) {
        return type == null || type.equalsIgnoreCase(MediaType.APPLICATION_JSON_VALUE);
    }

    private Mono<Void> ask(ServerWebExchange exchange) {
        return read(
                exchange,
                (caller, body) -> permits.handed(variable(exchange, "project"), caller, exchange.getRequest(), body)
                        .flatMap(handout -> write(
                                exchange,
                                PermitsController.status(handout),
                                asked.writeValueAsBytes(PermitView.of(handout)))));
    }

    private Mono<Void> settle(ServerWebExchange exchange) {
        return read(
                exchange,
                (caller, body) -> permits.settled(
                                variable(exchange, "project"),
                                variable(exchange, "permit"),
                                caller,
                                exchange.getRequest(),
                                body)
                        .flatMap(ending -> write(exchange, HttpStatus.OK, settled.writeValueAsBytes(ending))));
    }

    private Mono<Void> read(ServerWebExchange exchange, Answering answering) {
        return DataBufferUtils.join(exchange.getRequest().getBody(), longest)
                .map(PlainCalls::bytes)
                .defaultIfEmpty(NOTHING)
                .flatMap(body -> exchange.<Authentication>getPrincipal()
                        .mapNotNull(Authentication::getPrincipal)
                        .cast(Caller.class)
                        .flatMap(caller -> answering.answer(caller, body)));
    }

    private static byte[] bytes(DataBuffer read) {
        byte[] bytes = new byte[read.readableByteCount()];
        read.read(bytes);
        DataBufferUtils.release(read);
        return bytes;
    }

    private static String variable(ServerWebExchange exchange, String name) {
        Map<String, String> variables = exchange.getRequiredAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE);
        return variables.getOrDefault(name, "");
    }

    private static Mono<Void> write(ServerWebExchange exchange, HttpStatus status, byte[] body) {
        ServerHttpResponse response = exchange.getResponse();
        response.setStatusCode(status);
        response.getHeaders().setContentType(MediaType.APPLICATION_JSON);
        response.getHeaders().setContentLength(body.length);
        return response.writeWith(Mono.just(response.bufferFactory().wrap(body)));
    }

    private interface Answering {
        Mono<Void> answer(Caller caller, byte[] body);
    }
}
