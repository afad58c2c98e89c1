package io.sluice.testbed.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** A project's status as a page of text. Pure. */
final class StatusTable {
    private static final int MOST_WAITING = 15;
    private static final int MOST_LIMITS = 40;

    private StatusTable() {}

    /** The whole page. */
    static List<String> page(String project, JsonNode status) {
        List<String> lines = new ArrayList<>();
        lines.add(project + "  v" + status.path("version").asLong() + "  "
                + status.path("mode").asString());
        lines.add(verdict(status));
        lines.add("");
        lines.add(facts(status));
        for (JsonNode hold : status.path("holds")) {
            lines.add(hold(hold));
        }
        lines.add("");
        lines.addAll(TextTable.of(List.of("SCOPE", "LIMIT", "TAKEN", ">", ">LEFT", ">FULL IN"), limits(status)));
        if (!status.path("waiting").isEmpty()) {
            lines.add("");
            lines.addAll(TextTable.of(
                    List.of(">PLACE", "AGENT", "TEAM", "PRIORITY", "WAITS FOR", ">WAITED", ">STARTS IN"),
                    waiting(status)));
            long left = status.path("waiters").asLong() - MOST_WAITING;
            if (left > 0) {
                lines.add("and " + Shown.count(left) + " more");
            }
        }
        return lines;
    }

    /** One line of the list of projects: its cells. */
    static List<String> line(String project, JsonNode status) {
        JsonNode tightest = tightest(status);
        return List.of(
                project,
                "v" + status.path("version").asLong(),
                Shown.count(inFlight(status)),
                Shown.count(status.path("waiters").asLong()),
                Integer.toString(status.path("holds").size()),
                tightest.isMissingNode()
                        ? "no limits"
                        : percent(taken(tightest)) + " of "
                                + tightest.path("limit").asString() + ", "
                                + Shown.scope(tightest.path("scope").asString()));
    }

    /** Why the fleet waits, or that it does not. */
    static String verdict(JsonNode status) {
        long waiters = status.path("waiters").asLong();
        String line =
                waiters == 0 ? "nobody waits" : waiters == 1 ? "1 call waits" : Shown.count(waiters) + " calls wait";
        if (status.path("degraded").asBoolean()) {
            return "Redis does not answer: calls go by the policy's outage rule";
        }
        for (JsonNode hold : status.path("holds")) {
            if (hold.path("scope").asString().equals("p") && isClosed(hold)) {
                return "the whole project is on hold; " + line;
            }
        }
        if (waiters == 0) {
            return line;
        }
        Map<String, Integer> reasons = new LinkedHashMap<>();
        status.path("waiting").forEach(call -> reasons.merge(reason(call), 1, Integer::sum));
        return reasons.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(most -> line + (most.getValue() < waiters ? ", most for " : " for ") + most.getKey())
                .orElse(line);
    }

    private static String facts(JsonNode status) {
        long calling = 0;
        for (JsonNode agent : status.path("agents")) {
            calling += agent.path("state").asString().equals("calling") ? 1 : 0;
        }
        long rejected = 0;
        for (JsonNode count : status.path("rejections")) {
            rejected += count.asLong();
        }
        return "in flight " + Shown.count(inFlight(status)) + "   waiting "
                + Shown.count(status.path("waiters").asLong()) + "   agents "
                + Shown.count(status.path("agents_in_all").asLong()) + " (" + Shown.count(calling)
                + " calling)   hosts "
                + Shown.count(status.path("hosts").asLong()) + "   rejected in all " + Shown.count(rejected);
    }

    private static String hold(JsonNode hold) {
        String left = hold.path("left_ms").isNull()
                ? "until it is released"
                : isClosed(hold)
                        ? "for another " + Shown.time(hold.path("left_ms").asLong())
                        : "opening again";
        String reason = Shown.text(hold.path("reason").asString(""));
        return "ON HOLD " + Shown.scope(hold.path("scope").asString()) + ", "
                + hold.path("kind").asString().replace('_', ' ') + ", " + left
                + (reason.isEmpty() ? "" : ": " + reason);
    }

    private static boolean isClosed(JsonNode hold) {
        return hold.path("left_ms").isNull() || hold.path("left_ms").asLong() > 0;
    }

    private static List<List<String>> limits(JsonNode status) {
        return status.path("limits").values().stream()
                .limit(MOST_LIMITS)
                .map(limit -> {
                    boolean slots = limit.path("limit").asString().equals("concurrency");
                    long reset = limit.path("reset_ms").asLong();
                    return List.of(
                            Shown.scope(limit.path("scope").asString()),
                            Shown.text(limit.path("limit").asString()),
                            Shown.bar(taken(limit)),
                            percent(taken(limit)),
                            Shown.count(limit.path("level").asDouble()) + " of "
                                    + Shown.count(limit.path(slots ? "amount" : "capacity")
                                            .asLong()),
                            reset > 0 ? Shown.time(reset) : "");
                })
                .toList();
    }

    private static List<List<String>> waiting(JsonNode status) {
        return status.path("waiting").values().stream()
                .limit(MOST_WAITING)
                .map(call -> List.of(
                        call.path("position").asString(),
                        Shown.text(call.path("agent").asString()),
                        Shown.text(call.path("team").asString()),
                        call.path("priority").asString(),
                        reason(call),
                        Shown.time(call.path("waited_ms").asLong()),
                        "~" + Shown.time(call.path("wait_ms").asLong())))
                .toList();
    }

    private static String reason(JsonNode call) {
        String limit = call.path("limit").asString("line");
        return limit.equals("line")
                ? "its turn"
                : Shown.text(limit) + " of " + Shown.scope(call.path("scope").asString());
    }

    private static JsonNode tightest(JsonNode status) {
        return status.path("limits").values().stream()
                .max(Comparator.comparingDouble(StatusTable::taken))
                .orElse(status.path("none"));
    }

    private static long inFlight(JsonNode status) {
        return status.path("in_flight").path("p").asLong();
    }

    /** The share of a limit that is taken; above 1: debt. A closed one is taken whole. */
    private static double taken(JsonNode limit) {
        double amount = limit.path("amount").asDouble();
        double capacity = limit.path("capacity").asDouble(amount);
        if (amount == 0 || capacity == 0) {
            return 1;
        }
        return limit.path("limit").asString().equals("concurrency")
                ? limit.path("in_flight").asDouble() / amount
                : (capacity - limit.path("level").asDouble()) / capacity;
    }

    private static String percent(double share) {
        return Math.round(100 * share) + " %";
    }
}
