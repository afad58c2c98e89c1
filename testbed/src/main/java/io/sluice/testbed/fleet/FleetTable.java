package io.sluice.testbed.fleet;

import io.sluice.testbed.fleet.FleetReport.LimitUse;
import io.sluice.testbed.fleet.FleetReport.Waits;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** Reports for people: one column a run, side by side. */
public final class FleetTable {
    private static final int MIN_WIDTH = 12;

    private FleetTable() {}

    /** Lines of text, ending in a newline. */
    public static String of(List<FleetReport> reports) {
        List<Row> rows = new ArrayList<>();
        rows.add(row("strategy", FleetReport::strategy));
        rows.add(row("calls tried", r -> whole(r.tried())));
        rows.add(row("  completed", r -> whole(r.completed())));
        rows.add(row("  given up", r -> whole(r.givenUp())));
        rows.add(row("  cut off by the stop", r -> whole(r.cutOff())));
        if (reports.stream().anyMatch(r -> r.tasks() != null)) {
            rows.add(row("tasks completed", r -> task(r, Tasks::completed)));
            rows.add(row("  lost", r -> task(r, Tasks::lost)));
            rows.add(row("  tool runs", r -> task(r, Tasks::toolRuns)));
            rows.add(row("  tool runs repeated", r -> task(r, Tasks::toolRunsRepeated)));
        }
        rows.add(row("rejected by the provider", r -> whole(r.rejected())));
        keys(reports, FleetReport::rejections)
                .forEach(kind ->
                        rows.add(row("  " + kind, r -> whole(r.rejections().getOrDefault(kind, 0L)))));
        rows.add(row("allowed budget used", r -> percent(r.usedPercent())));
        rows.add(row("  binding limit", r -> r.binding() == null ? "-" : r.binding()));
        rows.add(row("  judged over", r -> String.format(Locale.ROOT, "%.1f s", r.judgedSeconds())));
        limits(reports).forEach(limit -> rows.add(row("  " + limit, r -> use(r, limit))));
        rows.add(row("overshoot, worst minute", r -> percent(r.overshootPercent())));
        rows.add(row("wait p50", r -> seconds(r.waits().p50Ms())));
        rows.add(row("wait p99", r -> seconds(r.waits().p99Ms())));
        waits(rows, reports, FleetReport::waitsByPriority);
        waits(rows, reports, FleetReport::waitsByTeam);
        rows.add(row("calls an agent, min/mid/max", r -> {
            FleetReport.Spread spread = r.callsPerAgent();
            return spread.min() + "/" + spread.median() + "/" + spread.max();
        }));
        rows.add(row("fairness among agents", r -> String.format(Locale.ROOT, "%.3f", r.jain())));
        keys(reports, FleetReport::givenUpBecause)
                .forEach(why -> rows.add(
                        row("given up: " + why, r -> whole(r.givenUpBecause().getOrDefault(why, 0L)))));
        return layOut(rows, reports);
    }

    private static void waits(
            List<Row> rows, List<FleetReport> reports, Function<FleetReport, Map<String, Waits>> group) {
        List<String> names = keys(reports, group);
        if (names.size() > 1) {
            names.forEach(name -> rows.add(row("  p50/p99 " + name, r -> {
                Waits waits = group.apply(r).get(name);
                return waits == null ? "-" : seconds(waits.p50Ms()) + "/" + seconds(waits.p99Ms());
            })));
        }
    }

    private static String layOut(List<Row> rows, List<FleetReport> reports) {
        int first = rows.stream().mapToInt(r -> r.name().length()).max().orElse(0);
        StringBuilder text = new StringBuilder();
        for (Row row : rows) {
            text.append(String.format("%-" + first + "s", row.name()));
            for (FleetReport report : reports) {
                int width = rows.stream()
                        .mapToInt(r -> r.value().apply(report).length())
                        .max()
                        .orElse(0);
                text.append(String.format(
                        "  %" + Math.max(MIN_WIDTH, width) + "s", row.value().apply(report)));
            }
            text.append('\n');
        }
        return text.toString();
    }

    private static String task(FleetReport report, ToLongFunction<Tasks> number) {
        return report.tasks() == null ? "-" : whole(number.applyAsLong(report.tasks()));
    }

    private static List<String> limits(List<FleetReport> reports) {
        return reports.stream()
                .flatMap(r -> r.limits().stream())
                .map(LimitUse::limit)
                .distinct()
                .toList();
    }

    private static String use(FleetReport report, String limit) {
        return report.limits().stream()
                .filter(use -> use.limit().equals(limit))
                .map(use -> percent(use.percent()))
                .findFirst()
                .orElse("-");
    }

    private static <V> List<String> keys(List<FleetReport> reports, Function<FleetReport, Map<String, V>> map) {
        return reports.stream()
                .flatMap(r -> map.apply(r).keySet().stream())
                .distinct()
                .sorted()
                .collect(Collectors.toList());
    }

    private static Row row(String name, Function<FleetReport, String> value) {
        return new Row(name, value);
    }

    private static String whole(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    private static String percent(double percent) {
        return String.format(Locale.ROOT, "%.1f %%", percent);
    }

    private static String seconds(long ms) {
        return String.format(Locale.ROOT, "%.2f s", ms / 1000.0);
    }

    private record Row(String name, Function<FleetReport, String> value) {}
}
