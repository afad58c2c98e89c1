package io.sluice.server.project;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.sluice.Counters;
import io.sluice.Status;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Every series of the fleet, by its name. Labels are names of the policy or words of ours, never of a caller's. Pure. */
final class Series {
    private Series() {}

    /** What was read of one project. */
    record Reading(String project, Counters counters, Status status) {}

    static MetricSnapshots of(List<Reading> readings) {
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        all.metricSnapshot(
                counted("sluice_permits", "Permits by how they went", "outcome", readings, Counters::permits));
        all.metricSnapshot(counted("sluice_rejections", "The provider's no", "kind", readings, Counters::rejections));
        all.metricSnapshot(
                counted("sluice_tokens", "LLM tokens of settled permits", "type", readings, Counters::tokens));
        all.metricSnapshot(waits(readings));
        all.metricSnapshot(total("sluice_usage_missing", "Settled without a figure", readings, Counters::usageMissing));
        all.metricSnapshot(total("sluice_lease_lost", "Permits whose lease was lost", readings, Counters::leaseLost));
        all.metricSnapshot(rare(readings));
        Gauges gauges = new Gauges();
        readings.forEach(reading -> gauges(gauges, reading.project, reading.status));
        gauges.into(all);
        return all.build();
    }

    private static void gauges(Gauges gauges, String project, Status status) {
        for (Status.Limit limit : status.limits()) {
            if (isOfThePolicy(limit.scope())) {
                gauges.add(
                        "sluice_level",
                        "What may still be taken at once, in units; below 0: debt",
                        limit.level(),
                        Labels.of("project", project, "scope", limit.scope(), "limit", limit.limit()));
            }
        }
        status.inFlight().forEach((scope, calls) -> {
            if (isOfThePolicy(scope)) {
                gauges.add(
                        "sluice_in_flight",
                        "Calls that run",
                        (double) calls,
                        Labels.of("project", project, "scope", scope));
            }
        });
        waiters(status)
                .forEach((modelClass, waiters) -> gauges.add(
                        "sluice_waiters",
                        "Calls that wait, of the first thousand by class, the rest under other",
                        (double) waiters,
                        Labels.of("project", project, "class", modelClass)));
        for (Status.Hold hold : status.holds()) {
            boolean closed = hold.left() == null || !hold.left().isZero();
            if (isOfThePolicy(hold.scope())) {
                gauges.add(
                        "sluice_hold",
                        "1 while a scope lets nobody in",
                        closed ? 1 : 0,
                        Labels.of("project", project, "scope", hold.scope()));
            }
        }
        for (Status.Said said : status.provider()) {
            if (said.remaining() != null) {
                gauges.add(
                        "sluice_provider_remaining",
                        "What the provider said is left",
                        (double) said.remaining(),
                        Labels.of("project", project, "class", said.modelClass(), "limit", said.limit()));
            }
        }
    }

    /** Of a class of the policy that nobody waits in 0, so that the series does not come and go. */
    private static Map<String, Long> waiters(Status status) {
        Map<String, Long> byClass = status.inFlight().keySet().stream()
                .filter(scope -> scope.startsWith("c:"))
                .collect(Collectors.toMap(scope -> scope.substring(2), scope -> 0L, Long::sum, java.util.TreeMap::new));
        status.waiting().forEach(waiting -> byClass.merge(waiting.modelClass(), 1L, Long::sum));
        long more = status.waiters() - status.waiting().size();
        if (more > 0) {
            byClass.merge("other", more, Long::sum);
        }
        return byClass;
    }

    /** Scopes of single agents and runs are as many as callers make. */
    private static boolean isOfThePolicy(String scope) {
        return scope.equals("p") || scope.startsWith("c:") || scope.startsWith("t:") || scope.startsWith("w:");
    }

    private static CounterSnapshot counted(
            String name,
            String help,
            String label,
            List<Reading> readings,
            Function<Counters, Map<Counters.Labels, Long>> part) {
        CounterSnapshot.Builder series = CounterSnapshot.builder().name(name).help(help);
        for (Reading reading : readings) {
            part.apply(reading.counters)
                    .forEach((labels, count) -> series.dataPoint(CounterDataPointSnapshot.builder()
                            .value((double) count)
                            .labels(Labels.of(
                                    "project", reading.project, "class", labels.modelClass(), label, labels.name()))
                            .build()));
        }
        return series.build();
    }

    private static CounterSnapshot total(
            String name, String help, List<Reading> readings, Function<Counters, Long> part) {
        CounterSnapshot.Builder series = CounterSnapshot.builder().name(name).help(help);
        for (Reading reading : readings) {
            series.dataPoint(CounterDataPointSnapshot.builder()
                    .value((double) part.apply(reading.counters))
                    .labels(Labels.of("project", reading.project))
                    .build());
        }
        return series.build();
    }

    private static CounterSnapshot rare(List<Reading> readings) {
        CounterSnapshot.Builder series =
                CounterSnapshot.builder().name("sluice_rare").help("What Redis itself counted, by name");
        for (Reading reading : readings) {
            reading.counters
                    .rare()
                    .forEach((event, count) -> series.dataPoint(CounterDataPointSnapshot.builder()
                            .value((double) count)
                            .labels(Labels.of("project", reading.project, "event", event))
                            .build()));
        }
        return series.build();
    }

    private static HistogramSnapshot waits(List<Reading> readings) {
        HistogramSnapshot.Builder series =
                HistogramSnapshot.builder().name("sluice_wait_seconds").help("From asking to the permit");
        for (Reading reading : readings) {
            reading.counters
                    .waits()
                    .forEach((labels, waits) -> series.dataPoint(HistogramDataPointSnapshot.builder()
                            .classicHistogramBuckets(buckets(waits.counts()))
                            .sum(waits.sumMs() / 1_000.0)
                            .labels(Labels.of(
                                    "project", reading.project, "class", labels.modelClass(), "team", labels.name()))
                            .build()));
        }
        return series.build();
    }

    private static ClassicHistogramBuckets buckets(List<Long> counts) {
        ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
        for (int i = 0; i < counts.size(); i++) {
            boolean last = i >= Counters.WAIT_BOUNDS_MS.size();
            buckets.bucket(last ? Double.POSITIVE_INFINITY : Counters.WAIT_BOUNDS_MS.get(i) / 1_000.0, counts.get(i));
        }
        return buckets.build();
    }

    /** Gauges by name. */
    private static final class Gauges {
        private final Map<String, GaugeSnapshot.Builder> series = new java.util.TreeMap<>();

        void add(String name, String help, double value, Labels labels) {
            series.computeIfAbsent(
                            name, any -> GaugeSnapshot.builder().name(name).help(help))
                    .dataPoint(GaugeDataPointSnapshot.builder()
                            .value(value)
                            .labels(labels)
                            .build());
        }

        void into(MetricSnapshots.Builder all) {
            series.values().forEach(one -> all.metricSnapshot(one.build()));
        }
    }
}
