package io.sluice.redis;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.lettuce.core.resource.Transports;
import io.netty.channel.EventLoopGroup;
import io.sluice.Sluice;
import io.sluice.Sluice.Options;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.Test;

/** Connections to Redis on threads that somebody else has. */
@WithRedis
class LentLoopsIT {
    @Test
    void answersComeOnThemAndTheyOutliveTheClient() throws Exception {
        EventLoopGroupProvider provider = new DefaultEventLoopGroupProvider(1);
        EventLoopGroup loops = provider.allocate(Transports.eventLoopGroupClass());
        try (RedisStore store = RedisStore.open(RedisServers.shared().uri(), Options.DEFAULT.withLoops(loops))) {
            CountDownLatch held = new CountDownLatch(1);
            loops.forEach(loop -> loop.execute(() -> hold(held)));
            CompletableFuture<Thread> answered = store.policy("nobody-installed-it")
                    .thenApply(none -> Thread.currentThread())
                    .toCompletableFuture();
            held.countDown();
            Thread thread = answered.get(5, SECONDS);
            assertThat(loops).anyMatch(loop -> loop.inEventLoop(thread));
        }
        assertThat(loops.isShuttingDown()).isFalse();
        loops.shutdownGracefully(0, 1, SECONDS);
    }

    @Test
    void otherThreadsAreNotTaken() {
        ScheduledExecutorService other = Executors.newSingleThreadScheduledExecutor();
        try {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Sluice.connect(RedisServers.shared().uri(), Options.DEFAULT.withLoops(other)))
                    .withMessageContaining("EventLoopGroup");
        } finally {
            other.shutdownNow();
        }
    }

    private static void hold(CountDownLatch until) {
        try {
            if (!until.await(5, SECONDS)) {
                throw new IllegalStateException("held for too long");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
