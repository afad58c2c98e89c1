package io.sluice.testbed.emulator;

/** The sum of the last span, such as 60 s, may not pass the limit; every booking leaves exactly one span after it. */
final class Rolling implements Counter {
    private final long limit;
    private final Window window;

    /** A limit a minute. */
    Rolling(long limit) {
        this(limit, MINUTE_US);
    }

    Rolling(long limit, long spanUs) {
        this.limit = limit;
        this.window = new Window(spanUs);
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
