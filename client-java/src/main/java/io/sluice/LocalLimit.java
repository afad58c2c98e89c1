package io.sluice;

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.TimeMeter;
import io.github.bucket4j.local.SynchronizationStrategy;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One limit in this process: a bucket of time ({@link Pace}) that starts empty and is kept warm, so that it is not full when Redis
 * goes. Not thread-safe: {@link LocalBudget} guards it.
 */
final class LocalLimit {
    /** Of {@link #waitNs}: however long. */
    static final long NEVER = Long.MAX_VALUE;

    /** Three years: debts beyond are all the same. */
    private static final double MOST_NS = 1e17;

    final Pace pace;
    private final LongSupplier nanoTime;
    private final Bucket bucket;
    private final @Nullable Gate gate;

    LocalLimit(Pace pace, LongSupplier nanoTime) {
        this.pace = pace;
        this.nanoTime = nanoTime;
        this.bucket = Bucket.builder()
                .addLimit(Bandwidth.builder()
                        .capacity(Math.max(1, pace.burstNs()))
                        .refillGreedy(1, Duration.ofNanos(1))
                        .initialTokens(0)
                        .build())
                .withCustomTimePrecision(new Clock(nanoTime))
                .withSynchronizationStrategy(SynchronizationStrategy.NONE)
                .build();
        this.gate = pace.gateWidthNs() > 0 ? new Gate(pace.gateWidthNs(), nanoTime.getAsLong()) : null;
    }

    private record Clock(LongSupplier nanoTime) implements TimeMeter {
        @Override
        public long currentTimeNanos() {
            return nanoTime.getAsLong();
        }

        @Override
        public boolean isWallClockBased() {
            return false;
        }
    }

    /** What so many units cost a host with that part of the limit. */
    long costNs(long units, double part) {
        return part <= 0 ? (long) MOST_NS : (long) Math.ceil(Math.min(MOST_NS, units * pace.nsPerUnit() / part));
    }

    /** And back, rounded up. */
    static long unitsOf(long ns, double nsPerUnit) {
        return (long) Math.ceil(ns / nsPerUnit);
    }

    /**
     * How long until a call can start, 0 = now, {@link #NEVER}. One above the burst and within the minute starts, into debt, when the
     * bucket is full and what was admitted lately leaves room for it.
     */
    long waitNs(long units, double part) {
        long cost = costNs(units, part);
        if (cost <= pace.burstNs()) {
            return bucket.estimateAbilityToConsume(Math.max(1, cost)).getNanosToWaitForRefill();
        }
        if (cost > pace.mostNs()) {
            return NEVER;
        }
        long full = bucket.estimateAbilityToConsume(Math.max(1, pace.burstNs())).getNanosToWaitForRefill();
        double room = pace.gateUnits() * part - units;
        return gate == null ? full : room < 0 ? NEVER : Math.max(full, gate.waitNs(room, nanoTime.getAsLong()));
    }

    /** A call starts here, whatever is left. */
    void take(long costNs, long units) {
        // A debt of years is as good as one of more years, and counts without overflow.
        long cost = (long) Math.min((double) costNs, MOST_NS + bucket.getAvailableTokens());
        if (cost > 0) {
            bucket.consumeIgnoringRateLimits(cost);
        }
        remember(units);
    }

    /**
     * A call that Redis let start. Other hosts' shares are not for it to use up: it leaves the bucket empty at most, and in debt only
     * by as much as the fleet's own is.
     */
    long warm(long costNs, long units) {
        long fleetNs = (long) Math.min(MOST_NS, units * pace.nsPerUnit());
        long debt = Math.max(0, fleetNs - pace.burstNs());
        long taken = Math.max(0, Math.min(costNs, bucket.getAvailableTokens() + debt));
        take(taken, units);
        return taken;
    }

    private void remember(long units) {
        if (gate != null) {
            gate.add((double) units, nanoTime.getAsLong());
        }
    }

    void giveBack(long ns) {
        if (ns > 0) {
            bucket.addTokens(ns);
        }
    }

    /** When all that was taken until now is refilled. */
    long goodAtNs() {
        return nanoTime.getAsLong() + Math.max(1, pace.burstNs()) - bucket.getAvailableTokens();
    }
}
