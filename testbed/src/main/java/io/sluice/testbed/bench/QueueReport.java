package io.sluice.testbed.bench;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** How a run of {@code bench queue} went, where, and which numbers were reached. */
public final class QueueReport implements Report {
    final BenchReport.Place place;
    final LineCosts costs;
    final List<Reached> reached;

    QueueReport(BenchReport.Place place, LineCosts costs, List<Reached> reached) {
        this.place = place;
        this.costs = costs;
        this.reached = List.copyOf(reached);
    }

    @Override
    public boolean met() {
        return reached.stream().allMatch(Reached::met);
    }

    @Override
    public String toTable() {
        return QueueTable.of(this);
    }

    @Override
    public String toJson() {
        return BenchReport.JSON.writeValueAsString(new Document(
                place,
                costs.options().seed(),
                costs.noOpMicros(),
                Line.of(costs.alone()),
                costs.lines().stream().map(Line::of).toList(),
                reached.stream().map(Reached::row).toList(),
                met()));
    }

    private record Document(
            BenchReport.Place run,
            long seed,
            Spread noOpMicros,
            Line nobodyWaits,
            List<Line> lines,
            List<Reached.Row> reached,
            boolean met) {}

    private record Line(String of, int waiters, Map<String, List<ScriptCost>> rounds) {
        static Line of(LineSeries series) {
            Map<String, List<ScriptCost>> rounds = new TreeMap<>();
            series.rounds().forEach((step, costs) -> rounds.put(step.label, costs));
            return new Line(series.crowd().label, series.waiters(), rounds);
        }
    }
}
