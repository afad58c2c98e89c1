package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Standing.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** What is told of where limits stand: the truth, unless the provider {@link Lie lies}. */
final class Telling {
    private static final Duration PAST = Duration.ofMinutes(1);
    private static final long THOUSAND = 1_000;

    private final Map<Pool, Deque<Standing>> before = new HashMap<>();

    /** @param truth of the pool, now; every one of them comes through here */
    Standing of(Pool pool, Standing truth, Set<Lie> lies) {
        Deque<Standing> earlier = before.computeIfAbsent(pool, p -> new ArrayDeque<>());
        earlier.addLast(truth);
        if (earlier.size() > Lie.LATE_BY + 1) {
            earlier.removeFirst();
        }
        if (lies.isEmpty()) {
            return truth;
        }
        Standing told = lies.contains(Lie.LATE) ? earlier.getFirst() : truth;
        Map<Kind, Level> levels = new EnumMap<>(Kind.class);
        told.levels().forEach((kind, level) -> levels.put(kind, bent(level, told, lies)));
        return new Standing(told.at(), levels, told.plan());
    }

    private static Level bent(Level level, Standing told, Set<Lie> lies) {
        long limit = level.limit();
        long remaining = level.remaining();
        if (lies.contains(Lie.FULL)) {
            remaining = limit;
        } else if (lies.contains(Lie.EMPTY)) {
            remaining = 0;
        }
        if (lies.contains(Lie.ROUNDED)) {
            remaining = (remaining + THOUSAND / 2) / THOUSAND * THOUSAND;
        }
        if (lies.contains(Lie.LIMIT_DOUBLED)) {
            limit *= 2;
        } else if (lies.contains(Lie.LIMIT_HALVED)) {
            limit /= 2;
        }
        return new Level(
                limit, remaining, lies.contains(Lie.RESET_PAST) ? told.at().minus(PAST) : level.resetAt());
    }

    /** The wait a rejection names. */
    static long waitUs(long trueUs, Set<Lie> lies) {
        if (lies.contains(Lie.NO_WAIT)) {
            return 0;
        }
        return lies.contains(Lie.SHORT_WAIT) ? trueUs / 10 : trueUs;
    }
}
