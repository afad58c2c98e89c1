package io.sluice.server.problem;

import java.util.Locale;
import java.util.Set;
import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * What curl and Python's urllib say of any body unless told otherwise, a page can send anywhere unasked. Where no browser can have
 * sent it the body is JSON like everybody's.
 */
@Component
final class Programs implements WebFilter {
    private static final Set<String> UNTOLD = Set.of("application/x-www-form-urlencoded", "text/plain");

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        HttpHeaders headers = exchange.getRequest().getHeaders();
        if (!isUntold(headers) || isOfABrowser(headers)) {
            return chain.filter(exchange);
        }
        return chain.filter(exchange.mutate()
                .request(request -> request.headers(said -> said.setContentType(MediaType.APPLICATION_JSON)))
                .build());
    }

    private static boolean isUntold(HttpHeaders headers) {
        try {
            MediaType type = headers.getContentType();
            return type != null && UNTOLD.contains(type.getType() + "/" + type.getSubtype());
        } catch (InvalidMediaTypeException e) {
            return false;
        }
    }

    /** Each browser of today says with a POST where it comes from; what it sends by itself is a cookie. */
    private static boolean isOfABrowser(HttpHeaders headers) {
        return headers.headerNames().stream()
                .map(name -> name.toLowerCase(Locale.ROOT))
                .anyMatch(name -> name.equals("origin") || name.equals("cookie") || name.startsWith("sec-fetch-"));
    }
}
