package io.sluice.testbed.emulator;

/** The sum of the last 60 seconds may not pass the limit; every booking leaves exactly 60 s after it was made. */
final class Rolling implements Counter {
    private final long limit;
    private final Window window = new Window();

    Rolling(long limit) {
        this.limit = limit;
    }

    @Override
    public long waitFor(long amount, long nowUs) {
        if (amount > limit) {
            return Math.max(freeAt(nowUs) - nowUs, 1);
        }
        return window.waitUntilAtMost(limit - amount, nowUs);
    }

    @Override
    public long waitForRoom(long nowUs) {
        return limit == 0 ? MINUTE_US : window.waitUntilAtMost(limit - 1, nowUs);
    }

    @Override
    public void book(long amount, long nowUs) {
        window.add(amount, nowUs);
    }

    @Override
    public long remaining(long nowUs) {
        return Math.max(0, limit - window.sum(nowUs));
    }

    @Override
    public long freeAt(long nowUs) {
        return window.emptyAt(nowUs);
    }
}
