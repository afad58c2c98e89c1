package io.sluice.testbed.emulator;

/**
 * A token bucket: holds {@code limit x burst / 60 s}, starts full, refills all the time, goes below zero when more is
 * booked than it holds.
 *
 * <p>Levels are in units x microseconds of a minute: one microsecond refills exactly {@code limit} of them. 50 a minute
 * with a burst of 60 s holds 50 units = 3,000,000,000; one unit, 60,000,000, is back after 1.2 s.
 */
final class Bucket implements Counter {
    private final long limit;
    private final long capacity;
    private long level;
    private long levelAtUs = Long.MIN_VALUE;

    Bucket(long limit, long burstUs) {
        this.limit = limit;
        this.capacity = limit * burstUs;
        this.level = capacity;
    }

    @Override
    public long waitFor(long amount, long nowUs) {
        refill(nowUs);
        long wanted = amount * MINUTE_US;
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
        level -= amount * MINUTE_US;
    }

    @Override
    public long remaining(long nowUs) {
        refill(nowUs);
        return Math.max(0, level / MINUTE_US);
    }

    @Override
    public long freeAt(long nowUs) {
        refill(nowUs);
        return nowUs + refillTime(capacity);
    }

    private void refill(long nowUs) {
        if (levelAtUs != Long.MIN_VALUE) {
            long elapsed = nowUs - levelAtUs;
            // Past the time it takes to fill, the product below would only overflow.
            level = elapsed >= refillTime(capacity) ? capacity : level + elapsed * limit;
        }
        levelAtUs = nowUs;
    }

    /** Microseconds until the level is at least {@code wanted}, rounded up. A closed limit says one minute. */
    private long refillTime(long wanted) {
        if (level >= wanted) {
            return 0;
        }
        return limit == 0 ? MINUTE_US : (wanted - level + limit - 1) / limit;
    }
}
