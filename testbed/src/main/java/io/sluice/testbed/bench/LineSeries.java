package io.sluice.testbed.bench;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The cost of each step in one line, round by round.
 *
 * @param waiters 0: nobody waits
 */
record LineSeries(Crowd crowd, int waiters, Map<LineStep, List<ScriptCost>> rounds) {

    LineSeries(Crowd crowd, int waiters) {
        this(crowd, waiters, new EnumMap<>(LineStep.class));
    }

    void add(Map<LineStep, ScriptCost> round) {
        round.forEach((step, cost) ->
                rounds.computeIfAbsent(step, s -> new ArrayList<>()).add(cost));
    }

    boolean has(LineStep step) {
        return rounds.containsKey(step);
    }

    Spread of(LineStep step, ToDoubleFunction<ScriptCost> number) {
        return Spread.of(costs(step).stream().mapToDouble(number).toArray());
    }

    /** Of CPU, round by round, so that what slowed the machine in one round slows both sides of its ratio. */
    Spread ratio(LineStep step, LineSeries reference) {
        List<ScriptCost> mine = costs(step);
        List<ScriptCost> theirs = reference.costs(step);
        return Spread.of(IntStream.range(0, mine.size())
                .mapToDouble(i -> mine.get(i).micros() / theirs.get(i).micros())
                .toArray());
    }

    private List<ScriptCost> costs(LineStep step) {
        return rounds.getOrDefault(step, List.of());
    }
}
