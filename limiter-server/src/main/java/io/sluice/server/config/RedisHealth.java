package io.sluice.server.config;

import io.sluice.OutageException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/** Whether Redis answers and takes writes: what readiness asks for. Why not is told in the answer and, once, in the log. */
@Component("redis")
class RedisHealth implements ReactiveHealthIndicator {
    private static final Logger log = LoggerFactory.getLogger(RedisHealth.class);
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final String FIT = "";

    private final Link link;
    private final AtomicReference<String> last = new AtomicReference<>(FIT);

    RedisHealth(Link link) {
        this.link = link;
    }

    @Override
    public Mono<Health> health() {
        return Mono.fromFuture(() -> link.sluice().admin().writable().toCompletableFuture(), true)
                .timeout(PATIENCE)
                .thenReturn(FIT)
                .onErrorResume(e -> Mono.just(e instanceof OutageException outage ? outage.reason() : "timeout"))
                .map(reason -> {
                    tell(reason);
                    return reason.equals(FIT)
                            ? Health.up().build()
                            : Health.down().withDetail("reason", reason).build();
                });
    }

    private void tell(String reason) {
        if (last.getAndSet(reason).equals(reason)) {
            return;
        }
        if (reason.equals(FIT)) {
            log.info("ready: Redis takes writes");
        } else {
            log.warn("not ready: Redis takes no writes ({})", reason);
        }
    }
}
