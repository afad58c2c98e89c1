package io.sluice.testbed.chaos;

import io.sluice.testbed.fleet.LogEntry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a leg left behind. All instants are by the provider's clock.
 *
 * @param processes of the fleet
 * @param agents in each
 * @param startMs the start signal
 * @param stopMs the stop signal
 * @param log the provider's
 * @param watched what Redis held, looked at again and again
 * @param aloneMs when hosts say that they sent a call without Redis: it excuses that call's slot and cost, and nothing else
 * @param end what it held when all was over
 * @param outcomes what the agents say became of their calls: told, not judged
 * @param waitsMs how long they say that the served ones had waited, sorted
 */
record Evidence(
        Leg leg,
        int processes,
        int agents,
        long startMs,
        long stopMs,
        Timeline terms,
        List<LogEntry> log,
        List<Happening> happenings,
        List<Watched> watched,
        List<Long> aloneMs,
        End end,
        List<String> troubles,
        Map<String, Integer> outcomes,
        List<Long> waitsMs) {

    /** A look at Redis. */
    record Watched(long atMs, Standing standing) {}

    /**
     * When all was over.
     *
     * @param standing empty if Redis did not tell
     * @param running permits that run by their own records
     * @param emptyAfterMs how long after the last call's end no slot was taken any more; {@link #NEVER} if one still was
     * @param keys in Redis, whoever's, but for those of an hour's and a day's usage, which expire
     */
    record End(Optional<Standing> standing, int running, long emptyAfterMs, int keys) {
        static final long NEVER = Long.MAX_VALUE;
    }

    /** The first instant at which all processes had been served, in whole seconds from the first; the stop if one never was. */
    long judgedFromMs(List<Sent> sent) {
        Map<String, Long> first = new HashMap<>();
        sent.forEach(call -> first.merge(call.process(), call.atMs(), Math::min));
        if (first.size() < processes) {
            return stopMs;
        }
        long begin = first.values().stream().mapToLong(Long::longValue).min().orElse(stopMs);
        long all = first.values().stream().mapToLong(Long::longValue).max().orElse(stopMs);
        return Math.min(stopMs, begin + (all - begin) / 1_000 * 1_000);
    }

    /** Those of the calls that hosts sent without Redis that no fault of ours was the reason for. */
    List<Long> aloneWithoutFaultMs() {
        return aloneMs.stream()
                .filter(sentMs -> happenings.stream()
                        .noneMatch(one -> one.fromMs() <= sentMs && sentMs <= one.toMs() + Terms.LEASE_MS))
                .toList();
    }

    long rejected() {
        return log.stream().filter(entry -> entry.is("rejected")).count();
    }
}
