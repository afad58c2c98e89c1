package io.sluice.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Who stands in line and in which order: start-time fair queueing by flow inside a class, and by class on what classes
 * share. Everything is found by looking at everybody.
 */
final class ReferenceOrder {
    private static final double BILLION = 1e9;

    /** Those that count as waiting, by id. */
    final Map<String, ReferenceLine.Waiter> waiters = new TreeMap<>();

    final Map<String, ClassLine> classes = new TreeMap<>();
    long clock;
    private final ReferenceModel budget;

    ReferenceOrder(ReferenceModel budget) {
        this.budget = budget;
    }

    /** A class in line: its tag among the classes, its clock, its flows' tags. */
    static final class ClassLine {
        long tag;
        long clock;
        final Map<String, Long> flows = new TreeMap<>();

        /** How often somebody of a flow left out of turn, or came back: a place is told by counting and may be off by so much. */
        final Map<String, Long> disturbed = new TreeMap<>();

        /** The waiter that was blocked first, and since when it is that one. */
        @Nullable
        String candidate;

        long since;

        @Nullable
        String firm;

        private void forget() {
            clock = 0;
            flows.clear();
            disturbed.clear();
            candidate = null;
            firm = null;
        }
    }

    ClassLine of(String modelClass) {
        return classes.computeIfAbsent(modelClass, it -> new ClassLine());
    }

    List<ReferenceLine.Waiter> waitingIn(String modelClass) {
        return waiters.values().stream()
                .filter(w -> w.modelClass().equals(modelClass))
                .toList();
    }

    List<ReferenceLine.Waiter> waitingIn(String modelClass, String flow) {
        return waitingIn(modelClass).stream()
                .filter(w -> w.ask.flow().equals(flow))
                .toList();
    }

    void join(ReferenceLine.Waiter waiter) {
        String flow = waiter.ask.flow();
        ClassLine it = of(waiter.modelClass());
        if (waitingIn(waiter.modelClass()).isEmpty()) {
            it.tag = Math.max(clock, it.tag);
            it.forget();
        }
        if (waitingIn(waiter.modelClass(), flow).isEmpty()) {
            it.flows.merge(flow, it.clock, Math::max);
        }
        waiters.put(waiter.ask.id(), waiter);
        if (place(waiter) < waitingIn(waiter.modelClass(), flow).size()) {
            disturb(waiter);
        }
    }

    void disturb(ReferenceLine.Waiter waiter) {
        of(waiter.modelClass()).disturbed.merge(waiter.ask.flow(), 1L, Long::sum);
    }

    /** From 1, by arrival in its flow. */
    long place(ReferenceLine.Waiter waiter) {
        return 1
                + waitingIn(waiter.modelClass(), waiter.ask.flow()).stream()
                        .filter(w -> w.arrival < waiter.arrival)
                        .count();
    }

    ReferenceLine.Position position(ReferenceLine.Waiter waiter) {
        return new ReferenceLine.Position(
                place(waiter),
                of(waiter.modelClass()).disturbed.getOrDefault(waiter.ask.flow(), 0L),
                waitingIn(waiter.modelClass(), waiter.ask.flow()).size());
    }

    void leave(ReferenceLine.Waiter waiter, boolean starts) {
        if (!starts || place(waiter) > 1) {
            disturb(waiter);
        }
        waiters.remove(waiter.ask.id());
        if (waitingIn(waiter.modelClass()).isEmpty()) {
            of(waiter.modelClass()).forget();
        }
        if (waiters.isEmpty()) {
            clock = 0;
            classes.clear();
        }
    }

    long tag(ReferenceLine.Waiter waiter) {
        return Objects.requireNonNull(of(waiter.modelClass()).flows.get(waiter.ask.flow()));
    }

    /** Of a waiter that starts now. */
    void advance(ReferenceLine.Waiter waiter) {
        ClassLine it = of(waiter.modelClass());
        long cost = cost(waiter.ask.costs());
        clock = Math.max(clock, it.tag);
        it.tag += increase(cost, 1);
        it.clock = Math.max(it.clock, tag(waiter));
        it.flows.merge(waiter.ask.flow(), increase(cost, waiter.ask.weight()), Long::sum);
    }

    /** Of a permit that ended below or above its estimate; {@code used} is nothing for one that gives everything back. */
    void correct(ReferenceModel.Permit permit, @Nullable Map<String, Map<String, Long>> used) {
        ReferenceLine.Waiter asked = Objects.requireNonNull(permit.asked);
        long estimate = cost(permit.costs);
        long booked = used == null ? 0 : cost(booked(permit, used));
        ClassLine it = of(asked.modelClass());
        if (!waitingIn(asked.modelClass()).isEmpty()) {
            long moved = (used == null ? 0 : increase(booked, 1)) - increase(estimate, 1);
            it.tag = Math.max(clock, it.tag + moved);
        }
        if (!waitingIn(asked.modelClass(), asked.ask.flow()).isEmpty()) {
            long weight = asked.ask.weight();
            long moved = (used == null ? 0 : increase(booked, weight)) - increase(estimate, weight);
            it.flows.compute(asked.ask.flow(), (f, tag) -> Math.max(it.clock, Objects.requireNonNull(tag) + moved));
        }
    }

    private Map<String, Map<String, Long>> booked(ReferenceModel.Permit permit, Map<String, Map<String, Long>> used) {
        Map<String, Map<String, Long>> booked = new TreeMap<>();
        permit.costs.forEach((scope, estimates) -> {
            Map<String, Long> ofScope = new TreeMap<>(estimates);
            if (used.containsKey(scope)) {
                ofScope.replaceAll((limit, estimate) -> {
                    ReferenceModel.Limit it = budget.look(scope, 0).limits.get(limit);
                    long told = used.get(scope).getOrDefault(limit, 0L);
                    return it == null ? estimate : ReferenceModel.bounded(it, estimate, told);
                });
            }
            booked.put(scope, ofScope);
        });
        return booked;
    }

    /** The largest share of a minute of any rate that project and class share, in billionths. */
    long cost(Map<String, Map<String, Long>> costs) {
        List<Long> shares = new ArrayList<>(List.of(1L));
        costs.forEach((name, units) -> {
            if (name.equals("p") || name.startsWith("c:")) {
                for (ReferenceModel.Limit limit : budget.look(name, 0).limits.values()) {
                    if (limit.active && limit.is.rate() > 0) {
                        double share = units.getOrDefault(limit.is.name(), 0L) / (double) limit.is.minute() * BILLION;
                        shares.add((long) Math.floor(share));
                    }
                }
            }
        });
        return shares.stream().mapToLong(it -> it).max().orElseThrow();
    }

    static long increase(long cost, long weight) {
        return Math.max(1, Math.floorDiv(cost * 1000, weight));
    }
}
