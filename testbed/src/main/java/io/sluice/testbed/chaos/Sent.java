package io.sluice.testbed.chaos;

import io.sluice.testbed.fleet.LogEntry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A call that the provider accepted.
 *
 * @param atMs when
 * @param inFlight how many it then had, this one included
 * @param last what its log says last of it: the end, with the output, or the beginning if there was no end
 */
record Sent(long atMs, int inFlight, LogEntry last) {

    boolean finished() {
        return last.is("finished");
    }

    long cost(Limit limit) {
        return limit.cost(last);
    }

    /** The process whose agent it was: {@code p2} of {@code p2/a17}. */
    String process() {
        return last.agent().replaceAll("/.*", "");
    }

    /** In the order of the log. */
    static List<Sent> of(List<LogEntry> log) {
        Map<String, LogEntry> accepted = new LinkedHashMap<>();
        Map<String, LogEntry> last = new LinkedHashMap<>();
        for (LogEntry entry : log) {
            if (entry.is("accepted")) {
                accepted.put(entry.id(), entry);
            }
            last.put(entry.id(), entry);
        }
        List<Sent> sent = new ArrayList<>();
        accepted.forEach(
                (id, entry) -> sent.add(new Sent(entry.tMs(), entry.inFlight(), last.getOrDefault(id, entry))));
        return sent;
    }
}
