package io.sluice;

import io.sluice.Admin.Used;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** What one agent uses late in its session, from what was seen. Pure. */
final class ObservedUse {
    private static final double ALL_BUT_A_TENTH = 0.9;

    /** An agent that was there for less than that of an hour says nothing of a minute. */
    private static final Duration LEAST = Duration.ofMinutes(1);

    private ObservedUse() {}

    static Optional<Plan.Use> late(List<Used> rows, Instant now, boolean cachedCounts) {
        Map<String, Used> busiest = new HashMap<>();
        for (Used row : rows) {
            if (row.requests() > 0) {
                busiest.merge(row.name(), row, (one, other) -> rate(one, now) >= rate(other, now) ? one : other);
            }
        }
        if (busiest.isEmpty()) {
            return Optional.empty();
        }
        Collection<Used> late = busiest.values();
        return Optional.of(new Plan.Use(
                most(late, row -> row.requests() / minutes(row, now)),
                most(late, row -> input(row, cachedCounts) / minutes(row, now)),
                most(late, row -> row.output() / minutes(row, now)),
                0));
    }

    private static double input(Used row, boolean cachedCounts) {
        return (double) row.input() + row.cacheWrite() + (cachedCounts ? row.cacheRead() : 0);
    }

    private static double rate(Used row, Instant now) {
        return ((double) row.input() + row.cacheRead() + row.cacheWrite() + row.output()) / minutes(row, now);
    }

    /** Of the hour that is under way only what has passed. */
    private static double minutes(Used row, Instant now) {
        Duration passed = Duration.between(row.at(), now);
        Duration counted = passed.compareTo(LEAST) < 0 ? LEAST : passed;
        return Math.min(60, counted.toSeconds() / 60.0);
    }

    private static double most(Collection<Used> rows, ToDoubleFunction<Used> use) {
        List<Double> sorted = rows.stream().map(use::applyAsDouble).sorted().toList();
        return sorted.get((int) Math.ceil(ALL_BUT_A_TENTH * sorted.size()) - 1);
    }
}
