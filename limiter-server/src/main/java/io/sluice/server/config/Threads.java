package io.sluice.server.config;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.config.BlockingExecutionConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/**
 * Which thread does what. A permit is read, asked of Redis, answered by it and written on one and the same thread, because changes of
 * threads are most of what it would cost otherwise. So nothing that takes long may run there: policies are read and compiled, reports made
 * and the description of the API written by {@link Workers}.
 */
@Configuration(proxyBeanMethods = false)
class Threads implements WebFluxConfigurer {
    private static final String PERMITS = "io.sluice.server.permit";
    private static final String SECURITY = "io.sluice.server.security";

    /** Whoever asks whether we live must hear it however much there is to do. Metrics have threads of their own already. */
    private static final String ACTUATOR = "org.springframework.boot.";

    private final Workers workers;

    Threads(Workers workers) {
        this.workers = workers;
    }

    /** Those that serve connections. One: with more of them, a call and Redis's answer would seldom meet on the same. */
    @Bean
    static ReactorResourceFactory reactorResourceFactory(Settings settings) {
        ReactorResourceFactory threads = new ReactorResourceFactory();
        threads.setUseGlobalResources(false);
        threads.setLoopResourcesSupplier(() -> LoopResources.create("sluice-io", settings.ioThreads(), true));
        return threads;
    }

    /** The workers, for who serves permits and has something large to read. */
    @Bean
    Scheduler others() {
        return Schedulers.fromExecutorService(workers);
    }

    /** Of itself Spring Boot names an executor for virtual threads only; without one nobody asks the predicate. */
    @Override
    public void configureBlockingExecution(BlockingExecutionConfigurer others) {
        others.setExecutor(workers);
        others.setControllerMethodPredicate(method -> !isLight(method));
    }

    private static boolean isLight(HandlerMethod method) {
        String where = method.getBeanType().getPackageName();
        // Who am I: nothing to read and nothing to ask.
        boolean tells = where.equals(SECURITY) && method.hasMethodAnnotation(GetMapping.class);
        return tells || where.equals(PERMITS) || where.startsWith(ACTUATOR);
    }
}
