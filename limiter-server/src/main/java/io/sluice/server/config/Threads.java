package io.sluice.server.config;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.web.reactive.config.BlockingExecutionConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import reactor.netty.resources.LoopResources;

/**
 * Which thread does what. A permit is read, asked of Redis, answered by it and written on one and the same thread, because changes of
 * threads are most of what it would cost otherwise. So nothing that takes long may run there: policies are compiled, reports made and
 * the description of the API written on threads of their own.
 */
@Configuration(proxyBeanMethods = false)
class Threads implements WebFluxConfigurer {
    private static final String LIGHT = "io.sluice.server.permit";
    private static final String ALSO_LIGHT = "io.sluice.server.security";

    /** Those that serve connections. One: with more of them, a call and Redis's answer would seldom meet on the same. */
    @Bean
    ReactorResourceFactory reactorResourceFactory(Settings settings) {
        ReactorResourceFactory threads = new ReactorResourceFactory();
        threads.setUseGlobalResources(false);
        threads.setLoopResourcesSupplier(() -> LoopResources.create("sluice-io", settings.ioThreads(), true));
        return threads;
    }

    @Override
    public void configureBlockingExecution(BlockingExecutionConfigurer others) {
        others.setControllerMethodPredicate(method -> {
            String where = method.getBeanType().getPackageName();
            return !where.equals(LIGHT) && !where.equals(ALSO_LIGHT);
        });
    }
}
