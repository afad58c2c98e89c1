package io.sluice.server.project;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.sluice.Admin;
import io.sluice.server.config.Link;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * The metrics of every project, read from Redis when they are scraped: true for all who draw on a budget, by whatever way. One
 * reading serves all scrapes of a second.
 */
@Component
class FleetMetrics implements MultiCollector {
    private static final Logger log = LoggerFactory.getLogger(FleetMetrics.class);
    private static final Duration GOOD_FOR = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** More projects than that are not told one by one. */
    private static final int MOST_PROJECTS = 1_000;

    private static final int AT_A_TIME = 32;

    private final Link link;
    private @Nullable MetricSnapshots read;
    private long readAt;

    FleetMetrics(Link link, PrometheusRegistry registry) {
        this.link = link;
        registry.register(this);
    }

    @Override
    public synchronized MetricSnapshots collect() {
        if (read == null || System.nanoTime() - readAt > GOOD_FOR.toNanos()) {
            try {
                read = Series.of(readings().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return new MetricSnapshots();
            } catch (ExecutionException | TimeoutException | RuntimeException e) {
                // Nothing is better than numbers that stand still: sluice_store_up says why.
                log.warn("no metrics of projects: {}", e.toString());
                read = new MetricSnapshots();
            }
            readAt = System.nanoTime();
        }
        return read;
    }

    /** Some projects at a time: permits are asked for by the same connection, and must not stand behind thousands of questions. */
    private CompletableFuture<List<Series.Reading>> readings() {
        Admin admin = link.sluice().admin();
        return Mono.fromCompletionStage(admin::projects)
                .flatMapIterable(projects -> projects)
                .take(MOST_PROJECTS)
                .flatMapSequential(
                        listed -> Mono.fromCompletionStage(() -> reading(admin, listed.project())), AT_A_TIME)
                .flatMapIterable(readings -> readings)
                .collectList()
                .toFuture();
    }

    /** None of a project that went meanwhile. */
    private static CompletableFuture<List<Series.Reading>> reading(Admin admin, String project) {
        return admin.counters(project)
                .thenCombine(
                        admin.status(project),
                        (counters, status) -> List.of(new Series.Reading(project, counters, status)))
                .toCompletableFuture()
                .exceptionally(e -> {
                    log.warn("no metrics of project {}: {}", project, e.toString());
                    return List.of();
                });
    }
}
