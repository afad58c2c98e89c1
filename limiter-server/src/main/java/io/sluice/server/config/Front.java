package io.sluice.server.config;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpMethod;
import org.springframework.web.server.WebFilter;

/** What stands at {@code /}. */
@Configuration(proxyBeanMethods = false)
class Front {
    /** The page, also for who only asks whether it is there (HEAD) or does not say that it reads HTML: Spring's own answers neither. */
    @Bean
    WebFilter page() {
        return (exchange, chain) -> {
            HttpMethod method = exchange.getRequest().getMethod();
            boolean reads = method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
            return chain.filter(
                    reads && exchange.getRequest().getPath().value().equals("/")
                            ? exchange.mutate()
                                    .request(request -> request.path("/index.html"))
                                    .build()
                            : exchange);
        };
    }
}
