package io.sluice.testbed.fleet;

import java.util.List;
import java.util.Locale;

/** The line a run shows while it is under way. */
final class Progress {
    private final FleetOptions options;
    private final PolicyNumbers numbers;
    private long lastAccepted;
    private double lastSeconds;

    Progress(FleetOptions options, PolicyNumbers numbers) {
        this.options = options;
        this.numbers = numbers;
    }

    /** For example {@code  12 s  sluice  calls 190  accepted 15.5/s  rejections 0  budget 97 %}. */
    String line(List<LogEntry> log, int calls, double seconds) {
        long accepted = log.stream().filter(e -> e.is("accepted")).count();
        long rejected = log.stream().filter(e -> e.is("rejected")).count();
        double rate = (accepted - lastAccepted) / Math.max(0.001, seconds - lastSeconds);
        lastAccepted = accepted;
        lastSeconds = seconds;
        return String.format(
                Locale.ROOT,
                "%4.0f s  %s  calls %d  accepted %.1f/s  rejections %d  budget %s",
                seconds,
                options.strategy().label(),
                calls,
                rate,
                rejected,
                budget(log));
    }

    private String budget(List<LogEntry> log) {
        long nowMs = log.isEmpty() ? 0 : log.get(log.size() - 1).tMs();
        Budget.Interval interval = Budget.interval(log, options.processes(), nowMs);
        if (interval == null) {
            return "-";
        }
        double percent = numbers.limits().stream()
                .mapToDouble(limit -> 100
                        * Budget.used(limit, numbers, log, interval)
                        / Math.max(1e-9, Budget.allowed(limit, numbers, interval)))
                .max()
                .orElse(0);
        return Math.round(percent) + " %";
    }
}
