package io.sluice.testbed.emulator;

/**
 * The exact sum of the last minute, or of another span: every amount with its time, in a ring that grows. What was added
 * at t counts until just before t + 60 s.
 */
final class Window {
    private final long spanUs;
    private long[] times = new long[64];
    private long[] amounts = new long[64];
    private int first;
    private int size;
    private long sum;

    Window() {
        this(Counter.MINUTE_US);
    }

    Window(long spanUs) {
        this.spanUs = spanUs;
    }

    void add(long amount, long nowUs) {
        forget(nowUs);
        if (amount == 0) {
            return;
        }
        if (size == times.length) {
            times = unrolled(times);
            amounts = unrolled(amounts);
            first = 0;
        }
        int at = slot(size++);
        times[at] = nowUs;
        amounts[at] = amount;
        sum += amount;
    }

    long sum(long nowUs) {
        forget(nowUs);
        return sum;
    }

    /** Microseconds until the sum is at most {@code target}, if nothing is added; 0 if it is now. */
    long waitUntilAtMost(long target, long nowUs) {
        forget(nowUs);
        long left = sum;
        long wait = 0;
        for (int i = 0; i < size && left > target; i++) {
            left -= amounts[slot(i)];
            wait = times[slot(i)] + spanUs - nowUs;
        }
        return wait;
    }

    /** When the last of it leaves: {@code nowUs} if nothing is left. */
    long emptyAt(long nowUs) {
        forget(nowUs);
        return size == 0 ? nowUs : times[slot(size - 1)] + spanUs;
    }

    private void forget(long nowUs) {
        while (size > 0 && times[first] + spanUs <= nowUs) {
            sum -= amounts[first];
            first = slot(1);
            size--;
        }
    }

    private int slot(int i) {
        int at = first + i;
        return at < times.length ? at : at - times.length;
    }

    private long[] unrolled(long[] ring) {
        long[] longer = new long[ring.length * 2];
        System.arraycopy(ring, first, longer, 0, ring.length - first);
        System.arraycopy(ring, 0, longer, ring.length - first, first);
        return longer;
    }
}
