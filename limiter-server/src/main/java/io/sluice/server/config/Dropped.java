package io.sluice.server.config;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Hooks;

/** What fails once its caller is gone is no error of anybody's: Reactor would write each with its stack. */
@Configuration(proxyBeanMethods = false)
class Dropped {
    private static final Logger log = LoggerFactory.getLogger(Dropped.class);

    Dropped() {
        Hooks.onErrorDropped(e -> log.debug("nobody hears of this any more", e));
    }
}
