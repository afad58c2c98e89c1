package io.sluice.testbed.chaos;

import io.sluice.testbed.redis.Ailments;
import io.sluice.testbed.redis.Fault;
import io.sluice.testbed.redis.FaultyProxy;
import io.sluice.testbed.redis.RedisOptions;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.time.Duration;
import java.util.function.LongSupplier;

/** One Redis with an append-only file, behind a cable that fails. */
final class CableGround implements Ground {
    private static final long BETWEEN_CUTS_MS = 150;

    /** What was written survives a kill of the process anyway; waiting for the disk would be another fault. */
    private final RedisServer redis =
            RedisServers.startProcess(RedisOptions.DEFAULT.keepingData().with("--appendfsync", "no"));

    private final FaultyProxy cable = FaultyProxy.to(redis);

    @Override
    public String fleetUri() {
        return cable.uri();
    }

    @Override
    public String adminUri() {
        return redis.uri();
    }

    @Override
    public RedisServer redis() {
        return redis;
    }

    @Override
    public long cause(Incident incident, LongSupplier now) throws InterruptedException {
        long beganMs = now.getAsLong();
        int lastsMs = incident.lastsMs();
        switch (incident.kind()) {
            case RESTART -> {
                redis.kill();
                Thread.sleep(lastsMs);
                redis.restart();
                return beganMs;
            }
            case EMPTY -> {
                redis.restartEmpty();
                return beganMs;
            }
            case PARTITION -> {
                during(new Fault.Hold(true, true), lastsMs);
                return beganMs;
            }
            case STALL -> {
                Ailments.Ailment stalled = Ailments.stalled(redis, Duration.ofMillis(lastsMs));
                Thread.sleep(lastsMs);
                stalled.close();
                return beganMs;
            }
            case DELAY -> {
                Duration late = Duration.ofMillis(incident.percent());
                during(new Fault.Delay(late, late), lastsMs);
                return -1;
            }
            case LOST_REPLIES -> {
                for (long end = beganMs + lastsMs; now.getAsLong() < end; ) {
                    during(new Fault.CutBeforeReply(""), BETWEEN_CUTS_MS);
                }
                return -1;
            }
            default -> throw Ground.notHere(incident);
        }
    }

    private void during(Fault fault, long ms) throws InterruptedException {
        cable.set(fault);
        try {
            Thread.sleep(ms);
        } finally {
            cable.heal();
        }
    }

    @Override
    public void mend() {
        // Everything is as it was.
    }

    @Override
    public void close() {
        cable.close();
        redis.close();
    }
}
