package io.sluice.server.security;

import io.sluice.server.problem.Problem;
import io.sluice.server.problem.Problems;
import java.util.regex.Pattern;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.web.server.firewall.ServerExchangeRejectedHandler;
import org.springframework.security.web.server.firewall.ServerWebExchangeFirewall;
import org.springframework.security.web.server.firewall.StrictServerWebExchangeFirewall;

/**
 * Which addresses are looked at at all. Spring's firewall refuses what could be read in two ways; but the ids of waits may have
 * slashes, which clients escape.
 */
@Configuration(proxyBeanMethods = false)
class Addresses {
    private static final Pattern WAIT = Pattern.compile("/v1/projects/[a-z0-9._-]+/waits/[^;]+");

    @Bean
    ServerWebExchangeFirewall firewall() {
        StrictServerWebExchangeFirewall strict = new StrictServerWebExchangeFirewall();
        StrictServerWebExchangeFirewall ofWaits = new StrictServerWebExchangeFirewall();
        ofWaits.setAllowUrlEncodedSlash(true);
        ofWaits.setAllowUrlEncodedDoubleSlash(true);
        return exchange -> {
            String path = exchange.getRequest().getURI().getRawPath();
            return (path != null && WAIT.matcher(path).matches() ? ofWaits : strict).getFirewalledExchange(exchange);
        };
    }

    /** As every other "no". */
    @Bean
    ServerExchangeRejectedHandler rejected(Problems problems) {
        return (exchange, why) -> problems.write(
                exchange,
                Problem.invalid(
                        "there is no such address, method or header, or it is escaped in a way that could be read as two"));
    }
}
