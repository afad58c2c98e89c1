package io.sluice.testbed.emulator;

import java.util.EnumMap;
import java.util.Map;

/** Models that share one set of limits: their counters and what is in flight. */
final class Pool {
    final String name;
    int inFlight;

    private final Limits limits;
    private final Map<Kind, Counter> counters = new EnumMap<>(Kind.class);

    Pool(String name, EmulatorOptions options) {
        this.name = name;
        this.limits = options.limits();
        for (Kind kind : Kind.RATES) {
            Long limit = limits.of(kind);
            if (limit != null) {
                counters.put(kind, options.counting().counter(kind, limit, options.burst()));
            }
        }
    }

    /**
     * How long {@code call} would have to wait for this kind of limit, in microseconds. Output is not known beforehand:
     * it only asks that the limit is not used up.
     */
    long waitFor(Kind kind, Call call, long nowUs) {
        Counter counter = counters.get(kind);
        if (counter == null) {
            return 0;
        }
        return switch (kind) {
            case REQUESTS -> counter.waitFor(1, nowUs);
            case INPUT -> counter.waitFor(call.counted(), nowUs);
            case OUTPUT -> counter.waitForRoom(nowUs);
            case CONCURRENCY -> 0;
        };
    }

    boolean hasFreeSlot() {
        Long slots = limits.concurrency();
        return slots == null || inFlight < slots;
    }

    void book(Kind kind, long amount, long nowUs) {
        Counter counter = counters.get(kind);
        if (counter != null) {
            counter.book(amount, nowUs);
        }
    }

    Standing standing(long nowUs) {
        Map<Kind, Standing.Level> levels = new EnumMap<>(Kind.class);
        counters.forEach((kind, counter) -> levels.put(
                kind,
                new Standing.Level(limit(kind), counter.remaining(nowUs), Enforcer.instant(counter.freeAt(nowUs)))));
        return new Standing(levels);
    }

    /** The limit of a kind that has one. */
    long limit(Kind kind) {
        Long limit = limits.of(kind);
        if (limit == null) {
            throw new IllegalArgumentException(kind + " is not limited");
        }
        return limit;
    }
}
