package io.sluice.server.problem;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * A body that nobody named is JSON: {@code curl -d} and Python's urllib call every body a form, others plain text. Not one that a browser
 * sends, which does so for any page, to any address, and with its cookies: that stays what it is, and is refused ({@link StrictRequests}).
 */
@Component
final class NamelessBodies implements WebFilter {
    private static final Set<MediaType> NAMELESS = Set.of(MediaType.APPLICATION_FORM_URLENCODED, MediaType.TEXT_PLAIN);

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        HttpHeaders headers = exchange.getRequest().getHeaders();
        return isNameless(type(headers)) && !isOfABrowser(headers)
                ? chain.filter(exchange.mutate()
                        .request(request -> request.headers(all -> all.setContentType(MediaType.APPLICATION_JSON)))
                        .build())
                : chain.filter(exchange);
    }

    private static @Nullable MediaType type(HttpHeaders headers) {
        try {
            return headers.getContentType();
        } catch (InvalidMediaTypeException e) {
            return null;
        }
    }

    private static boolean isNameless(@Nullable MediaType type) {
        return type != null && NAMELESS.stream().anyMatch(type::equalsTypeAndSubtype);
    }

    /** Each of today's says with a call that changes something where it comes from. */
    private static boolean isOfABrowser(HttpHeaders headers) {
        return headers.containsHeader(HttpHeaders.ORIGIN)
                || headers.containsHeader(HttpHeaders.REFERER)
                || headers.containsHeader(HttpHeaders.COOKIE)
                || headers.containsHeader("Sec-Fetch-Site");
    }
}
