package io.sluice.testbed.emulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Every decision in order, in a ring: beyond its capacity the oldest go and are counted as dropped. {@code seq} starts at
 * 1 and, like the time, goes on over a reset.
 */
final class DecisionLog {
    private final int capacity;
    private final long startUs;
    private Entry[] ring = new Entry[0];
    private long lastSeq;
    private int size;
    private long dropped;

    DecisionLog(int capacity, long startUs) {
        this.capacity = capacity;
        this.startUs = startUs;
    }

    /** A rejection with the HTTP status it was sent with. */
    void reject(long nowUs, long id, Call call, Pool pool, Kind kind, int status) {
        add(Event.REJECTED, nowUs, id, call, pool, kind, 0, status);
    }

    void add(Event event, long nowUs, long id, Call call, Pool pool, @Nullable Kind kind, long output) {
        add(event, nowUs, id, call, pool, kind, output, event.status);
    }

    private synchronized void add(
            Event event, long nowUs, long id, Call call, Pool pool, @Nullable Kind kind, long output, int status) {
        if (size == ring.length && size < capacity) {
            grow();
        }
        lastSeq++;
        ring[slot(lastSeq)] = new Entry(
                lastSeq, nowUs, nowUs - startUs, event, id, call, pool.name, kind, output, pool.inFlight, status);
        if (size < ring.length) {
            size++;
        } else {
            dropped++;
        }
    }

    /** The oldest entries after {@code seq} and up to {@code last}, at most {@code most} of them. */
    synchronized List<Entry> after(long seq, long last, int most) {
        long from = Math.max(seq, lastSeq - size) + 1;
        long to = Math.min(Math.min(last, lastSeq), from + most - 1);
        List<Entry> entries = new ArrayList<>();
        for (long s = from; s <= to; s++) {
            entries.add(ring[slot(s)]);
        }
        return entries;
    }

    synchronized long lastSeq() {
        return lastSeq;
    }

    synchronized long dropped() {
        return dropped;
    }

    synchronized void clear() {
        ring = new Entry[0];
        size = 0;
        dropped = 0;
    }

    private void grow() {
        Entry[] old = ring;
        ring = new Entry[(int) Math.min(capacity, Math.max(1_024L, old.length * 2L))];
        for (long s = lastSeq - size + 1; s <= lastSeq; s++) {
            ring[slot(s)] = old[(int) (s % old.length)];
        }
    }

    private int slot(long seq) {
        return (int) (seq % ring.length);
    }

    /** What happened, with the HTTP status it usually stands for: 499 is a client that left; a stream fails after 200. */
    enum Event {
        ACCEPTED(200),
        REJECTED(429),
        FINISHED(200),
        FAILED(200),
        ABORTED(499);

        final int status;
        final String word = name().toLowerCase(Locale.ROOT);

        Event(int status) {
            this.status = status;
        }
    }

    /**
     * One line of the log.
     *
     * @param kind the limit a rejected call ran into
     * @param output tokens produced by then: 0 unless the call has ended
     * @param inFlight calls of the pool in flight after it
     */
    record Entry(
            long seq,
            long atUs,
            long sinceStartUs,
            Event event,
            long id,
            Call call,
            String pool,
            @Nullable Kind kind,
            long output,
            int inFlight,
            int status) {}
}
