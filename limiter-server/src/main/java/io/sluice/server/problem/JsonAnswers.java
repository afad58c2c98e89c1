package io.sluice.server.problem;

import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.accept.RequestedContentTypeResolver;
import org.springframework.web.reactive.accept.RequestedContentTypeResolverBuilder;
import org.springframework.web.reactive.config.WebFluxConfigurer;

/**
 * The API answers in JSON, whatever {@code Accept} says; the few answers that have another form look for themselves
 * ({@link Accepts}). Spring would find out that it has nothing to answer when the permit is granted, or settled, already.
 */
@Component
final class JsonAnswers implements WebFluxConfigurer {
    @Override
    public void configureContentTypeResolver(RequestedContentTypeResolverBuilder builder) {
        builder.resolver(exchange -> exchange.getRequest().getPath().value().startsWith("/v1/")
                ? List.of(MediaType.APPLICATION_JSON)
                : RequestedContentTypeResolver.MEDIA_TYPE_ALL_LIST);
        builder.headerResolver();
    }
}
