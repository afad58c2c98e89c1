package io.sluice.testbed.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A report of {@code bench queue} in Markdown. */
final class QueueTable {
    private QueueTable() {}

    static String of(QueueReport report) {
        StringBuilder text = new StringBuilder(where(report)).append("\n\n");
        costs(text, report.costs);
        return text.append('\n').append(BenchTable.of(report.reached)).toString();
    }

    private static String where(QueueReport report) {
        BenchReport.Place place = report.place;
        return String.format(
                Locale.ROOT,
                "`%s`, %s, Redis %s, JDK %s, %d cores; %d rounds, median (min..max), seed %d",
                place.command(),
                place.date(),
                place.redis(),
                place.jdk(),
                place.cores(),
                place.rounds(),
                report.costs.options().seed());
    }

    /** Steps down, lines across. */
    private static void costs(StringBuilder text, LineCosts costs) {
        List<String> head = new ArrayList<>(List.of("Redis CPU, µs (redis.calls)", "nobody waits"));
        Crowd last = null;
        for (LineSeries line : costs.lines()) {
            head.add((line.crowd() == last ? "" : line.crowd().label + ": ")
                    + String.format(Locale.ROOT, "%,d", line.waiters()));
            last = line.crowd();
        }
        text.append(row(head))
                .append("|---|")
                .append("--:|".repeat(head.size() - 1))
                .append('\n');
        for (LineStep step : LineStep.values()) {
            List<String> cells = new ArrayList<>(List.of(step.label, cost(costs.alone(), step)));
            costs.lines().forEach(line -> cells.add(cost(line, step)));
            text.append(row(cells));
        }
    }

    private static String cost(LineSeries line, LineStep step) {
        if (!line.has(step)) {
            return "";
        }
        return String.format(
                Locale.ROOT,
                "%.0f (%.0f)",
                line.of(step, ScriptCost::micros).median(),
                line.of(step, ScriptCost::calls).median());
    }

    private static String row(List<String> cells) {
        return "| " + String.join(" | ", cells) + " |\n";
    }
}
