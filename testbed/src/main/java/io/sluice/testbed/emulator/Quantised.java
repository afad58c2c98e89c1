package io.sluice.testbed.emulator;

/**
 * Aligned windows: from each multiple of the window's length on the clock, {@code limit x window / 60 s} may be used,
 * and nothing is carried into the next. 60 a minute in windows of 5 s allows 5 in each.
 */
final class Quantised implements Counter {
    private final long allowance;
    private final long windowUs;
    private long window;
    private long used;

    Quantised(long limit, long windowUs) {
        // In units x microseconds of a minute, so that 50 a minute in 5 s is exactly 4 1/6.
        this.allowance = limit * windowUs;
        this.windowUs = windowUs;
    }

    @Override
    public long waitFor(long amount, long nowUs) {
        roll(nowUs);
        return (used + amount) * MINUTE_US <= allowance ? 0 : untilNext(nowUs);
    }

    @Override
    public long waitForRoom(long nowUs) {
        roll(nowUs);
        return used * MINUTE_US < allowance ? 0 : untilNext(nowUs);
    }

    @Override
    public void book(long amount, long nowUs) {
        roll(nowUs);
        used += amount;
    }

    @Override
    public long remaining(long nowUs) {
        roll(nowUs);
        return Math.max(0, allowance / MINUTE_US - used);
    }

    @Override
    public long freeAt(long nowUs) {
        roll(nowUs);
        return used == 0 ? nowUs : nowUs + untilNext(nowUs);
    }

    private void roll(long nowUs) {
        long current = Math.floorDiv(nowUs, windowUs);
        if (current != window) {
            window = current;
            used = 0;
        }
    }

    private long untilNext(long nowUs) {
        return windowUs - Math.floorMod(nowUs, windowUs);
    }
}
