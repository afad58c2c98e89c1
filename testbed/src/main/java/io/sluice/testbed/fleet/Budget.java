package io.sluice.testbed.fleet;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How much of what a policy allows reached the provider, from the provider's log.
 *
 * <p>Over an interval of T seconds a limit allows {@code burst + amount × headroom × T}; what was used is what the
 * provider counted in that interval: requests, input and what is charged of {@code tpm} when a call was accepted, output as
 * it was produced, taken as even between acceptance and end. Slots in use allow {@code amount × T} slot-seconds.
 *
 * <p>Example: rpm 600 at headroom 0.9 and burst 5 s over 30 s allows 45 + 9 × 30 = 315 requests.
 */
final class Budget {
    private Budget() {}

    /** From and to, in ms. */
    record Interval(long fromMs, long toMs) {
        /** The same interval by a clock that shows {@code atMs} at its end. */
        Interval endingAt(long atMs) {
            return new Interval(atMs - (toMs - fromMs), atMs);
        }

        double seconds() {
            return (toMs - fromMs) / 1000.0;
        }

        boolean contains(long atMs) {
            return atMs >= fromMs && atMs <= toMs;
        }

        /** How much of {@code startMs} to {@code endMs} lies within, in ms. */
        long overlapMs(long startMs, long endMs) {
            return Math.max(0, Math.min(endMs, toMs) - Math.max(startMs, fromMs));
        }
    }

    /**
     * What is judged: from the first second in which every process has been granted, seconds counted from the first grant,
     * to the stop signal. {@code null} if some process never was.
     *
     * @param granted the process and the instant of each grant, any order
     */
    static @Nullable Interval interval(Stream<Grant> granted, int processes, long stopMs) {
        Map<String, Long> first = new HashMap<>();
        granted.filter(grant -> grant.atMs() <= stopMs)
                .forEach(grant -> first.merge(grant.process(), grant.atMs(), Math::min));
        if (first.size() < processes) {
            return null;
        }
        long start = first.values().stream().mapToLong(Long::longValue).min().orElse(stopMs);
        long last = first.values().stream().mapToLong(Long::longValue).max().orElse(stopMs);
        return new Interval(start + (last - start) / 1000 * 1000, stopMs);
    }

    /** The same as far as the log tells: a call is accepted some ms after its grant, and later while processes warm up. */
    static @Nullable Interval interval(List<LogEntry> log, int processes, long stopMs) {
        return interval(
                log.stream()
                        .filter(entry -> entry.is("accepted"))
                        .map(entry -> new Grant(Workload.processOf(entry.agent()), entry.tMs())),
                processes,
                stopMs);
    }

    /** A process was granted a call. */
    record Grant(String process, long atMs) {}

    /** What a limit allows in the interval. */
    static double allowed(String limit, PolicyNumbers numbers, Interval interval) {
        return limit.equals(PolicyNumbers.CONCURRENCY)
                ? numbers.amount(limit) * interval.seconds()
                : numbers.burst(limit) + numbers.perSecond(limit) * interval.seconds();
    }

    /** What the provider counted toward a limit in the interval. */
    static double used(String limit, PolicyNumbers numbers, List<LogEntry> log, Interval interval) {
        return switch (limit) {
            case PolicyNumbers.RPM -> acceptedWithin(log, interval).count();
            case PolicyNumbers.ITPM ->
                acceptedWithin(log, interval)
                        .mapToLong(e -> numbers.inputCost(e.input(), e.cacheRead(), e.cacheWrite()))
                        .sum();
            case PolicyNumbers.OTPM -> overCalls(log, interval, true);
            case PolicyNumbers.TPM ->
                acceptedWithin(log, interval).mapToLong(LogEntry::charged).sum()
                        + (numbers.outputCountsAsTokens() ? overCalls(log, interval, true) : 0);
            case PolicyNumbers.CONCURRENCY -> overCalls(log, interval, false);
            default -> throw new IllegalArgumentException("no limit " + limit);
        };
    }

    private static Stream<LogEntry> acceptedWithin(List<LogEntry> log, Interval interval) {
        return log.stream().filter(e -> e.is("accepted") && interval.contains(e.tMs()));
    }

    /** The output produced within the interval, or the slot-seconds spent in it. */
    private static double overCalls(List<LogEntry> log, Interval interval, boolean output) {
        Map<String, Long> started = new HashMap<>();
        double sum = 0;
        for (LogEntry entry : log) {
            if (entry.is("accepted")) {
                started.put(entry.id(), entry.tMs());
            } else if (!entry.is("rejected")) {
                Long startMs = started.remove(entry.id());
                sum += startMs == null ? 0 : part(startMs, entry, interval, output);
            }
        }
        if (!output) {
            // Still running: they hold their slots to the end.
            for (long startMs : started.values()) {
                sum += interval.overlapMs(startMs, interval.toMs()) / 1000.0;
            }
        }
        return sum;
    }

    private static double part(long startMs, LogEntry end, Interval interval, boolean output) {
        long overlapMs = interval.overlapMs(startMs, end.tMs());
        if (!output) {
            return overlapMs / 1000.0;
        }
        long lengthMs = end.tMs() - startMs;
        if (lengthMs == 0) {
            return interval.contains(startMs) ? end.output() : 0;
        }
        return (double) end.output() * overlapMs / lengthMs;
    }
}
