package io.sluice.testbed.chaos;

import io.sluice.testbed.chaos.ChaosReport.Fault;
import io.sluice.testbed.chaos.ChaosReport.Judged;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A report of {@code bench chaos} in Markdown. */
final class ChaosTable {
    private ChaosTable() {}

    static String of(ChaosReport report) {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "`%s`, %s, JDK %s, %d cores; %d processes with %d agents each, seed %d%n%n",
                report.command,
                report.began,
                System.getProperty("java.version"),
                Runtime.getRuntime().availableProcessors(),
                report.options.processes(),
                report.options.agents(),
                report.options.seed()));
        figures(text, report.legs);
        text.append("\n| fault | how often | recovered after, s (median, worst) |\n|---|--:|--:|\n");
        faults(report.legs).forEach((kind, recoveries) -> text.append(fault(kind, recoveries)));
        text.append(String.format(
                Locale.ROOT,
                "%nHosts sent %d calls by their own shares, %d of them where no fault of ours kept Redis from answering in time: 0 on a"
                        + " quiet machine.%nEach of these excuses its own slot and cost.%n",
                report.legs.stream().mapToInt(Judged::sentAlone).sum(),
                report.legs.stream().mapToInt(Judged::sentAloneWithoutFault).sum()));
        text.append(
                "\n| law | what | where | measured | reach | verdict | beside it |\n|---|---|---|--:|--:|---|---|\n");
        report.overall.forEach(one -> text.append(row("all", one)));
        report.legs.forEach(leg ->
                leg.findings().forEach(one -> text.append(row(leg.leg().word(), one))));
        text.append(String.format(
                Locale.ROOT,
                "%n%s. The seed draws the same faults at the same moments: %s%n",
                report.met() ? "PASSED" : "FAILED",
                report.command));
        return text.toString();
    }

    private static void figures(StringBuilder text, List<Judged> legs) {
        text.append(
                        "| leg | s | requests | rejected | used | binding | wait p50, p99 ms | calls, as the agents say |\n")
                .append("|---|--:|--:|--:|--:|---|--:|---|\n");
        for (Judged leg : legs) {
            text.append(cells(List.of(
                    leg.leg().word(),
                    number(leg.seconds()),
                    String.valueOf(leg.requests()),
                    leg.rejected() == 0 ? "0" : leg.rejected() + " " + leg.rejections(),
                    String.format(Locale.ROOT, "%.1f %%", leg.usedPercent()),
                    leg.binding().name().toLowerCase(Locale.ROOT),
                    leg.waitP50Ms() + ", " + leg.waitP99Ms(),
                    leg.outcomes().entrySet().stream()
                            .map(outcome -> outcome.getKey() + " " + outcome.getValue())
                            .collect(Collectors.joining(", ")))));
        }
    }

    private static Map<String, List<Double>> faults(List<Judged> legs) {
        Map<String, List<Double>> byKind = new TreeMap<>();
        for (Judged leg : legs) {
            for (Fault fault : leg.faults()) {
                byKind.computeIfAbsent(fault.kind(), any -> new ArrayList<>()).add(fault.recoveredMs());
            }
        }
        return byKind;
    }

    private static String fault(String kind, List<Double> recoveriesMs) {
        List<Double> known =
                recoveriesMs.stream().filter(ms -> ms >= 0).sorted().toList();
        String recovered = known.isEmpty()
                ? "-"
                : String.format(
                        Locale.ROOT,
                        "%.1f, %.1f",
                        known.get(known.size() / 2) / 1_000,
                        known.get(known.size() - 1) / 1_000);
        return cells(List.of(kind, String.valueOf(recoveriesMs.size()), recovered));
    }

    private static String row(String where, Finding one) {
        return cells(List.of(
                one.law(),
                one.what(),
                where,
                number(one.measured()),
                reach(one),
                one.met() ? "met" : "MISSED",
                one.beside()));
    }

    /** For example {@code ≤ 4}. */
    static String reach(Finding one) {
        return (one.atMost() ? "≤ " : "≥ ") + number(one.bound());
    }

    /** Whole numbers whole, others with two decimals. */
    private static String number(double value) {
        return value == Math.rint(value) && !Double.isInfinite(value)
                ? String.format(Locale.ROOT, "%,.0f", value + 0.0)
                : String.format(Locale.ROOT, "%.2f", value);
    }

    private static String cells(List<String> cells) {
        return "| " + String.join(" | ", cells) + " |\n";
    }
}
