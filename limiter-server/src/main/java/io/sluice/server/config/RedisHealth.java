package io.sluice.server.config;

import io.sluice.OutageException;
import java.time.Duration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/** Whether Redis answers and takes writes: what readiness asks for. */
@Component("redis")
class RedisHealth implements ReactiveHealthIndicator {
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Link link;

    RedisHealth(Link link) {
        this.link = link;
    }

    @Override
    public Mono<Health> health() {
        return Mono.fromFuture(() -> link.sluice().admin().projects().toCompletableFuture(), true)
                .timeout(PATIENCE)
                .map(projects ->
                        Health.up().withDetail("projects", projects.size()).build())
                .onErrorResume(e -> Mono.just(Health.down()
                        .withDetail("reason", e instanceof OutageException outage ? outage.reason() : "timeout")
                        .build()));
    }
}
