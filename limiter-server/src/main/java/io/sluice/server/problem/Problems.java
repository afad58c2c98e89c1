package io.sluice.server.problem;

import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/** The one place where problems are written; stands before Spring's own. */
@Component
@Order(-2)
public final class Problems implements WebExceptionHandler {
    private final JsonMapper json;

    Problems(JsonMapper json) {
        this.json = json;
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable thrown) {
        ServerHttpResponse response = exchange.getResponse();
        if (response.isCommitted()) {
            return Mono.error(thrown);
        }
        return write(exchange, Causes.of(thrown));
    }

    /** Answers with this problem. */
    public Mono<Void> write(ServerWebExchange exchange, Problem problem) {
        ServerHttpResponse response = exchange.getResponse();
        response.setStatusCode(HttpStatusCode.valueOf(problem.status()));
        response.getHeaders().putAll(problem.headers());
        response.getHeaders().setContentType(MediaType.APPLICATION_PROBLEM_JSON);
        DataBuffer body = response.bufferFactory().wrap(json.writeValueAsBytes(problem.body()));
        response.getHeaders().setContentLength(body.readableByteCount());
        return response.writeWith(Mono.just(body));
    }
}
