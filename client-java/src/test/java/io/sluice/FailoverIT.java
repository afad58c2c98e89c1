package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.redis.Levels;
import io.sluice.testbed.redis.RedisCluster;
import io.sluice.testbed.redis.RedisSentinel;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithCluster;
import io.sluice.testbed.redis.WithSentinel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A replica takes over while agents call: whatever they are told meanwhile, they are served again by the new primary, on the
 * same budget, and nothing is held that nobody has.
 */
@Timeout(120)
class FailoverIT {
    private static final String LIMITS = "concurrency: 8, " + Budget.THOUSAND.replace("1000", "1000000");
    private static final Duration BACK = Duration.ofSeconds(10);

    private final String id = "over-" + UUID.randomUUID();

    @Test
    @WithSentinel
    void sentinelsPrimaryIsKilledUnderLoad(RedisSentinel sentinel) throws Exception {
        underLoad(sentinel.uri(), sentinel::crash);
    }

    @Test
    @WithSentinel
    void sentinelsPrimaryIsReplacedUnderLoad(RedisSentinel sentinel) throws Exception {
        underLoad(sentinel.uri(), sentinel::failOver);
    }

    @Test
    @WithCluster(replicas = true)
    void aClustersNodeIsKilledUnderLoad(RedisCluster cluster) throws Exception {
        underLoad(cluster.uri(), () -> cluster.crash(owner(cluster)));
    }

    @Test
    @WithCluster(replicas = true)
    void aClustersNodeIsReplacedUnderLoad(RedisCluster cluster) throws Exception {
        underLoad(cluster.uri(), () -> cluster.failOver(owner(cluster)));
    }

    private RedisServer owner(RedisCluster cluster) {
        return cluster.ownerOf(RedisCluster.slotOf("{" + id + "}:levels"));
    }

    private void underLoad(String uri, Callable<RedisServer> failover) throws Exception {
        try (Sluice sluice = Sluice.connect(uri)) {
            sluice.install(Budget.policy(id, LIMITS));
            Project project = sluice.project(id);
            AtomicBoolean on = new AtomicBoolean(true);
            AtomicLong served = new AtomicLong();
            ExecutorService pool = Executors.newFixedThreadPool(4);
            try {
                List<Future<?>> agents = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    agents.add(pool.submit(() -> call(project, on, served)));
                }
                await().until(() -> served.get() > 100);
                RedisServer now = failover.call();
                long before = served.get();
                await().atMost(BACK).until(() -> served.get() > before + 100);
                on.set(false);
                for (Future<?> agent : agents) {
                    agent.get(30, TimeUnit.SECONDS);
                }
                // What was under way at the moment of it ends with its lease of a second, at the latest.
                await().atMost(BACK)
                        .until(() -> levels(now).used() == 0 && levels(now).waiters() == 0);
                assertThat(levels(now).left().get("calls"))
                        .as("what is left of a million when %s calls were served", served)
                        .isBetween(1_000_000 - served.get() - 100, 1_000_000L - 100);
                Budget.take(project, CALL).cancel();
            } finally {
                on.set(false);
                pool.shutdownNow();
            }
        }
    }

    private static Void call(Project project, AtomicBoolean on, AtomicLong served) throws InterruptedException {
        while (on.get()) {
            try {
                Permit permit = project.acquire(CALL, Duration.ofSeconds(5));
                permit.settle(Usage.UNKNOWN);
                served.incrementAndGet();
            } catch (OutageException told) {
                assertThat(told.reason()).isNotIn("script", "bad_reply", "no_project");
                Thread.sleep(20); // An agent that is told goes easy.
            }
        }
        return null;
    }

    private Levels levels(RedisServer primary) {
        return Levels.of(primary.uri(), id, "c:m");
    }
}
