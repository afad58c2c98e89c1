package io.sluice.testbed.chaos;

import io.sluice.testbed.redis.RedisSentinel;
import io.sluice.testbed.redis.RedisServer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A primary, its replica and three Sentinels. */
final class SentinelGround implements Ground {
    private final RedisSentinel set = RedisSentinel.start();

    @Override
    public String fleetUri() {
        return set.uri();
    }

    @Override
    public String adminUri() {
        return set.uri();
    }

    @Override
    public RedisServer redis() {
        return set.primary();
    }

    @Override
    public long cause(Incident incident, LongSupplier now) throws InterruptedException {
        return switch (incident.kind()) {
            case CRASH -> crash(0, now);
            case LOSING -> crash(incident.lastsMs(), now);
            case FAILOVER -> {
                set.failOver();
                yield -1;
            }
            default -> throw Ground.notHere(incident);
        };
    }

    private long crash(int losesMs, LongSupplier now) {
        AtomicLong out = new AtomicLong();
        set.crashLosing(() -> {
            pass(losesMs);
            out.set(now.getAsLong());
        });
        return out.get();
    }

    /** The server that was killed is a replica from now on. */
    @Override
    public void mend() {
        RedisServer other = set.replica();
        if (!other.running()) {
            other.restart();
        }
    }

    private static void pass(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        set.close();
    }
}
