package io.sluice.testbed.chaos;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a project holds at a moment, as Redis tells.
 *
 * @param slots calls in flight of the class
 * @param waiters calls in line
 * @param oldestMs how long the oldest of them has waited
 * @param requests that were charged to the day, and never given back
 * @param tokens the same
 * @param counters of rare events
 */
record Standing(long slots, long waiters, long oldestMs, double requests, double tokens, Map<String, Long> counters) {
    private static final String CLASS = "c:sonnet";

    /**
     * @param levels the reply of {@code inspect levels}
     * @param waiters all of {@code inspect waiters}
     */
    static Standing of(List<Object> levels, List<List<Object>> waiters) {
        long nowUs = number(levels.get(2));
        long oldestUs = waiters.stream()
                .filter(waiter -> !waiter.get(1).equals("place"))
                .mapToLong(waiter -> nowUs - number(waiter.get(7)))
                .max()
                .orElse(0);
        long waiting = waiters.stream()
                .filter(waiter -> !waiter.get(1).equals("place"))
                .count();
        Map<String, Long> counters = new TreeMap<>();
        List<Object> told = list(levels.get(7));
        for (int i = 0; i < told.size(); i += 2) {
            counters.put(told.get(i).toString(), number(told.get(i + 1)));
        }
        long slots = 0;
        double requests = 0;
        double tokens = 0;
        for (Object one : list(levels.get(8))) {
            List<Object> scope = list(one);
            if (scope.get(0).equals(CLASS)) {
                slots = number(scope.get(2));
            }
            for (Object limit : list(scope.get(4))) {
                List<Object> parts = list(limit);
                if (parts.get(0).equals("requests")) {
                    requests = used(parts);
                } else if (parts.get(0).equals("tokens")) {
                    tokens = used(parts);
                }
            }
        }
        return new Standing(slots, waiting, oldestUs / 1_000, requests, tokens, counters);
    }

    /** Level and capacity are in {@code factor} parts of a unit. */
    private static double used(List<Object> limit) {
        return (number(limit.get(3)) - number(limit.get(2))) / (double) number(limit.get(4));
    }

    private static long number(Object value) {
        return value instanceof Long whole ? whole : Long.parseLong(value.toString());
    }

    @SuppressWarnings("unchecked")
    static List<Object> list(Object reply) {
        return (List<Object>) reply;
    }
}
