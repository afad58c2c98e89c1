package io.sluice.testbed.emulator;

/**
 * A token bucket: holds {@code limit x burst / period}, starts full, refills all the time, goes below zero when more is
 * booked than it holds.
 *
 * <p>Levels are in units x ticks of the period: one tick refills exactly {@code limit} of them. With ticks of a
 * microsecond, 50 a minute with a burst of 60 s holds 50 units = 3,000,000,000; one unit, 60,000,000, is back after 1.2 s.
 * A day is counted in milliseconds, or 10^9 a day would not fit a long.
 */
final class Bucket implements Counter {
    private static final long DAY_MS = 86_400_000;

    private final long limit;
    private final long capacity;
    private final long period;
    private final long tickUs;
    private long level;
    private long levelAt = Long.MIN_VALUE;

    /** A limit a minute. */
    Bucket(long limit, long burstUs) {
        this(limit, burstUs, MINUTE_US, 1);
    }

    private Bucket(long limit, long burst, long period, long tickUs) {
        this.limit = limit;
        this.capacity = limit * burst;
        this.period = period;
        this.tickUs = tickUs;
        this.level = capacity;
    }

    /** A limit a day that refills all the time, as OpenAI's do: of 200 a day one is back after 7 min 12 s. */
    static Bucket ofDay(long limit) {
        return new Bucket(limit, DAY_MS, DAY_MS, 1_000);
    }

    @Override
    public long waitFor(long amount, long nowUs) {
        refill(nowUs);
        long wanted = amount * period;
        return wanted <= capacity ? refillTime(wanted) : Math.max(refillTime(capacity), 1);
    }

    @Override
    public long waitForRoom(long nowUs) {
        refill(nowUs);
        return refillTime(1);
    }

    @Override
    public void book(long amount, long nowUs) {
        refill(nowUs);
        level -= amount * period;
    }

    @Override
    public long remaining(long nowUs) {
        refill(nowUs);
        return Math.max(0, level / period);
    }

    @Override
    public long freeAt(long nowUs) {
        refill(nowUs);
        return nowUs + refillTime(capacity);
    }

    private void refill(long nowUs) {
        long now = nowUs / tickUs;
        if (levelAt != Long.MIN_VALUE) {
            long elapsed = now - levelAt;
            // Past the time it takes to fill, the product below would only overflow.
            level = elapsed >= ticksTo(capacity) ? capacity : level + elapsed * limit;
        }
        levelAt = now;
    }

    /** Microseconds until the level is at least {@code wanted}, rounded up. */
    private long refillTime(long wanted) {
        return ticksTo(wanted) * tickUs;
    }

    /** A closed limit says one period. */
    private long ticksTo(long wanted) {
        if (level >= wanted) {
            return 0;
        }
        return limit == 0 ? period : (wanted - level + limit - 1) / limit;
    }
}
