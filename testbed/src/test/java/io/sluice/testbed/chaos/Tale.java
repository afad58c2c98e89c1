package io.sluice.testbed.chaos;

import io.sluice.testbed.chaos.Evidence.End;
import io.sluice.testbed.chaos.Evidence.Watched;
import io.sluice.testbed.fleet.LogEntry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A leg that never was: its log is made by hand, all else is as after a leg in which nothing went wrong. */
final class Tale {
    static final Standing NOTHING = new Standing(0, 0, 0, 0, 0, Map.of());

    final Timeline terms = new Timeline(Terms.FULL);
    final List<Happening> happenings = new ArrayList<>();
    final List<Watched> watched = new ArrayList<>();
    final List<Long> aloneMs = new ArrayList<>();
    final List<String> troubles = new ArrayList<>();
    End end = new End(Optional.of(NOTHING), 0, 100, 8);
    private final List<LogEntry> log = new ArrayList<>();
    private int calls;
    private long lastMs;

    /** A call that is served. */
    Tale served(long atMs, String agent, long input, long output) {
        return served(atMs, agent, input, output, 1);
    }

    Tale served(long atMs, String agent, long input, long output, int inFlight) {
        String id = line("accepted", atMs, agent, input, 0, inFlight);
        log.add(entry("finished", atMs + 400, id, agent, input, output, inFlight - 1));
        return this;
    }

    /** A call whose caller is gone before its end. */
    Tale cutOff(long atMs, String agent, long input, long output) {
        String id = line("accepted", atMs, agent, input, 0, 1);
        log.add(entry("aborted", atMs + 400, id, agent, input, output, 0));
        return this;
    }

    Tale rejected(long atMs, String agent) {
        String unused = line("rejected", atMs, agent, 0, 0, 1);
        return this;
    }

    /** So many calls a second, the first at {@code fromMs}, of one agent after the other of four processes. */
    Tale steadily(long fromMs, long toMs, int perSecond, long input) {
        for (int i = 0; fromMs + i * 1_000L / perSecond < toMs; i++) {
            served(fromMs + i * 1_000L / perSecond, "p" + i % 4 + "/a0", input, 100);
        }
        return this;
    }

    Tale happened(Kind kind, long fromMs, long toMs, boolean out) {
        return happened(new Happening(
                new Incident(kind, (int) fromMs, (int) (toMs - fromMs), 0, 50),
                fromMs,
                toMs,
                out ? fromMs : -1,
                "",
                -1));
    }

    Tale happened(Happening one) {
        happenings.add(one);
        return this;
    }

    Evidence evidence(Leg leg) {
        return new Evidence(
                leg, 4, 10, 0, lastMs, terms, log(), happenings, watched, aloneMs, end, troubles, Map.of(), List.of());
    }

    Evidence evidence() {
        return evidence(Leg.EMPTIED);
    }

    List<Sent> sent() {
        return Sent.of(log());
    }

    /** In the order of time, as a provider writes it. */
    private List<LogEntry> log() {
        return log.stream().sorted(Comparator.comparingLong(LogEntry::tMs)).toList();
    }

    private String line(String event, long atMs, String agent, long input, long output, int inFlight) {
        calls++;
        lastMs = Math.max(lastMs, atMs);
        String id = "req-" + calls;
        log.add(entry(event, atMs, id, agent, input, output, inFlight));
        return id;
    }

    private static LogEntry entry(
            String event, long atMs, String id, String agent, long input, long output, int inFlight) {
        return new LogEntry(
                0,
                atMs,
                event,
                id,
                agent,
                event.equals("rejected") ? "input" : null,
                input,
                0,
                0,
                input,
                output,
                inFlight);
    }
}
