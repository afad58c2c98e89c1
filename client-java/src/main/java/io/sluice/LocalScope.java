package io.sluice;

import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What one scope of a project has in use in this process. Not thread-safe: {@link LocalBudget} guards it. */
final class LocalScope {
    /** An agent counts for so long after its last call. */
    private static final long COUNTS_NS = Duration.ofMinutes(5).toNanos();

    private static final int AGENTS = 10_000;

    final String name;
    private final LongSupplier nanoTime;

    /** By name: their positions may change with the policy. */
    private final Map<String, LocalLimit> limits = new HashMap<>();

    /** When each was last seen, the one seen longest ago first; of a scope that counts agents. */
    private final Map<String, Long> agents = new LinkedHashMap<>(16, 0.75f, true);

    int inFlight;

    LocalScope(String name, LongSupplier nanoTime) {
        this.name = name;
        this.nanoTime = nanoTime;
    }

    /** An other pace is an other limit: what was saved up or owed by the old one is nothing to the new. */
    LocalLimit limit(String limit, Pace pace) {
        LocalLimit known = limits.get(limit);
        if (known == null || !known.pace.equals(pace)) {
            known = new LocalLimit(pace, nanoTime);
            limits.put(limit, known);
        }
        return known;
    }

    /** The one of that name, if it was used here before. */
    @Nullable
    LocalLimit known(String limit) {
        return limits.get(limit);
    }

    boolean countsAgents() {
        return name.startsWith("n:");
    }

    /** Whether one agent more fits into so many. One that counts already does. */
    boolean hasRoom(String agent, long most) {
        forget();
        return agents.containsKey(agent) || agents.size() < most;
    }

    void saw(String agent) {
        forget();
        if (agents.size() < AGENTS || agents.containsKey(agent)) {
            agents.put(agent, nanoTime.getAsLong());
        }
    }

    /** How long until the next agent counts no more. */
    long agentLeavesNs() {
        Iterator<Long> seen = agents.values().iterator();
        return seen.hasNext() ? Math.max(1, seen.next() + COUNTS_NS - nanoTime.getAsLong()) : 1;
    }

    private void forget() {
        long now = nanoTime.getAsLong();
        agents.values().removeIf(seen -> now - seen > COUNTS_NS);
    }
}
