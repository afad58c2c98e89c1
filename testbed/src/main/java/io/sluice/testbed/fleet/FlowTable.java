package io.sluice.testbed.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;

/** Who of one fleet got how much, for people: a row for each priority, team and flow, then fairness and starvation. */
public final class FlowTable {
    private static final List<String> HEAD = List.of(
            "", "weight", "granted", "rejected", "wait p50", "p99", "max", "of charged", "of allowed", "backlogged");

    private FlowTable() {}

    /** Lines of text, ending in a newline. */
    public static String of(FleetReport report) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(HEAD);
        parts(rows, "priority ", report.byPriority());
        parts(rows, "team ", report.byTeam());
        for (Flow flow : report.flows()) {
            rows.add(row(
                    "flow " + flow.name(),
                    whole(flow.weight()),
                    flow.part(),
                    percent(flow.backloggedPercent()) + (flow.alwaysBacklogged() ? "" : " *")));
        }
        return layOut(rows) + fairness(report.flowFairness()) + starvation(report.starvation());
    }

    private static void parts(List<List<String>> rows, String what, Map<String, Part> parts) {
        parts.forEach((name, part) -> rows.add(row(what + name, "", part, "")));
    }

    private static List<String> row(String name, String weight, Part part, String backlogged) {
        return List.of(
                name,
                weight,
                whole(part.granted()),
                whole(part.rejected()),
                seconds(part.waits().p50Ms()),
                seconds(part.waits().p99Ms()),
                seconds(part.waits().maxMs()),
                percent(part.sharePercent()),
                percent(part.usePercent()),
                backlogged);
    }

    private static String fairness(FlowFairness fairness) {
        String over = fairness.jain() == null
                ? "Jain's index: - (fewer than two flows were always backlogged)"
                : String.format(
                        Locale.ROOT,
                        "Jain's index: %.3f over %s; %s grants or more each in %.1f s",
                        fairness.jain(),
                        String.join(", ", fairness.flows()),
                        whole(fairness.leastGranted()),
                        fairness.seconds());
        String left = fairness.leftOut().isEmpty()
                ? ""
                : String.format(
                        Locale.ROOT,
                        "\n  * left out, a call waiting less than %.0f %% of the time: %s",
                        FlowFairness.BACKLOGGED_PERCENT,
                        String.join(", ", fairness.leftOut()));
        return over + left + "\n";
    }

    private static String starvation(Starvation starvation) {
        String whose = starvation.agent() == null
                ? ""
                : " (" + starvation.agent() + ", " + (starvation.team() == null ? "no team" : starvation.team()) + " "
                        + starvation.priority() + ")";
        return "starvation: longest wait " + seconds(starvation.longestMs()) + whose + "; " + whole(starvation.calls())
                + " calls waited longer than " + seconds(starvation.boundMs()) + "\n";
    }

    private static String layOut(List<List<String>> rows) {
        int[] widths = IntStream.range(0, HEAD.size())
                .map(column -> rows.stream()
                        .mapToInt(row -> row.get(column).length())
                        .max()
                        .orElse(0))
                .toArray();
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder(String.format("%-" + Math.max(1, widths[0]) + "s", row.get(0)));
            for (int column = 1; column < widths.length; column++) {
                line.append(String.format("  %" + widths[column] + "s", row.get(column)));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
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
}
