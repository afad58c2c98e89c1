package io.sluice;

import io.sluice.Admin.Used;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/** What one agent uses late in its session, from what was seen. Pure. */
final class ObservedUse {
    private static final double ALL_BUT_A_TENTH = 0.9;

    /** An agent that was there for less than that says nothing of a minute. */
    private static final Duration LEAST = Duration.ofMinutes(1);

    /** Those who named no agent, and those beyond the names that are kept: nobody knows how many they are. */
    private static final Set<String> SEVERAL = Set.of(Policy.NO_NAME, "other");

    private ObservedUse() {}

    static Optional<Plan.Use> late(List<Used> rows, boolean cachedCounts) {
        Map<String, Used> busiest = new HashMap<>();
        for (Used row : rows) {
            if (row.requests() > 0 && !SEVERAL.contains(row.name())) {
                busiest.merge(row.name(), row, (one, other) -> rate(one) >= rate(other) ? one : other);
            }
        }
        if (busiest.isEmpty()) {
            return Optional.empty();
        }
        Collection<Used> late = busiest.values();
        return Optional.of(new Plan.Use(
                most(late, row -> row.requests() / minutes(row)),
                most(late, row -> input(row, cachedCounts) / minutes(row)),
                most(late, row -> row.output() / minutes(row)),
                0));
    }

    private static double input(Used row, boolean cachedCounts) {
        return (double) row.input() + row.cacheWrite() + (cachedCounts ? row.cacheRead() : 0);
    }

    private static double rate(Used row) {
        return ((double) row.input() + row.cacheRead() + row.cacheWrite() + row.output()) / minutes(row);
    }

    /** Those in which it was there: what an agent uses in its first minutes is not what it uses in an hour. */
    private static double minutes(Used row) {
        return Math.max(LEAST.toMillis(), row.active().toMillis()) / 60_000.0;
    }

    private static double most(Collection<Used> rows, ToDoubleFunction<Used> use) {
        List<Double> sorted = rows.stream().map(use::applyAsDouble).sorted().toList();
        return sorted.get((int) Math.ceil(ALL_BUT_A_TENTH * sorted.size()) - 1);
    }
}
