package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replicas that take over while somebody writes: with all that was written, or without the last of it. */
@Timeout(90)
class FailoverIT {
    private static final Duration LAST = Duration.ofMillis(300);

    // ---- Sentinel

    @Test
    void sentinelsReplicaHasAllButTheLastMomentsAfterAKill() throws Exception {
        try (RedisSentinel sentinel = RedisSentinel.start();
                Writer writer = new Writer(sentinel.primary())) {
            writer.awaitSome();
            RedisServer old = sentinel.primary();
            RedisServer now = sentinel.crash();
            assertThat(now).isNotSameAs(old).isSameAs(sentinel.primary());
            // The last write can have reached the replica while its answer died with the primary.
            assertThat(count(now)).isBetween(1L, writer.stop() + 1);
        }
    }

    @Test
    void sentinelsReplicaTakesOverWhileAllIsWellAndTheOtherBecomesItsReplica() throws Exception {
        try (RedisSentinel sentinel = RedisSentinel.start();
                Writer writer = new Writer(sentinel.primary())) {
            writer.awaitSome();
            RedisServer old = sentinel.primary();
            RedisServer now = sentinel.failOver();
            writer.stop();
            assertThat(sentinel.replica()).isSameAs(old);
            now.command("SET", "after", "1");
            Replication.awaitCopy(now, old);
            assertThat(old.command("GET", "after")).isEqualTo("1");
            assertThat(sentinel.failOver()).as("and back").isSameAs(old);
        }
    }

    @Test
    void sentinelsLastMomentsCanBeLost() {
        try (RedisSentinel sentinel = RedisSentinel.start()) {
            RedisServer old = sentinel.primary();
            old.command("SET", "kept", "1");
            RedisServer now = sentinel.crashLosing(() -> old.command("SET", "lost", "1"));
            assertThat(now.command("GET", "kept")).isEqualTo("1");
            assertThat(now.command("EXISTS", "lost")).isEqualTo("0");
        }
    }

    @Test
    void sentinelsLastMomentsCanBeLostUnderLoad() throws Exception {
        try (RedisSentinel sentinel = RedisSentinel.start();
                Writer writer = new Writer(sentinel.primary())) {
            writer.awaitSome();
            RedisServer now = sentinel.crashLosing(LAST);
            assertThat(count(now)).isPositive().isLessThan(writer.stop() - 5);
        }
    }

    // ---- Cluster

    @Test
    @WithCluster(replicas = true)
    void aClustersReplicaTakesOver(RedisCluster cluster) throws Exception {
        int slot = RedisCluster.slotOf("written");
        RedisServer first = cluster.ownerOf(slot);
        RedisServer second = cluster.twin(first);
        assertThat(cluster.twin(second)).isSameAs(first);
        try (Writer writer = new Writer(first)) {
            writer.awaitSome();
            assertThat(cluster.failOver(first)).isSameAs(second).isSameAs(cluster.ownerOf(slot));
            // Nothing is lost between two that agree.
            assertThat(count(second)).isEqualTo(writer.stop());
        }
        long kept;
        try (Writer writer = new Writer(second)) {
            writer.awaitSome();
            kept = count(second);
            assertThat(cluster.crashLosing(second, LAST)).isSameAs(first).isSameAs(cluster.ownerOf(slot));
            assertThat(count(first)).isGreaterThanOrEqualTo(kept).isLessThan(writer.stop() - 5);
        }
        second.restart();
        Await.until(Duration.ofSeconds(15), () -> Replication.isReplica(second), () -> "the killed one as a replica");
        assertThat(cluster.crash(first)).as("and back").isSameAs(second);
    }

    private static long count(RedisServer server) {
        String written = server.command("GET", "written");
        return written.isEmpty() ? 0 : Long.parseLong(written);
    }

    /** Writes to one server for as long as that takes it. */
    private static final class Writer implements AutoCloseable {
        private final ExecutorService thread = Executors.newSingleThreadExecutor();
        private final AtomicBoolean on = new AtomicBoolean(true);
        private final RedisServer server;
        private final Future<Long> written;

        Writer(RedisServer server) {
            this.server = server;
            server.command("SET", "written", "0");
            this.written = thread.submit(this::write);
        }

        private long write() {
            long last = 0;
            while (on.get()) {
                try {
                    last = Long.parseLong(server.command("INCR", "written"));
                } catch (RedisException gone) {
                    return last;
                }
            }
            return last;
        }

        void awaitSome() {
            long before = count(server);
            Await.until(Duration.ofSeconds(10), () -> count(server) >= before + 20, () -> "some writes");
        }

        /** What the server said it had, at last. */
        long stop() throws ExecutionException, InterruptedException {
            on.set(false);
            return written.get();
        }

        @Override
        public void close() {
            on.set(false);
            thread.shutdownNow();
        }
    }
}
