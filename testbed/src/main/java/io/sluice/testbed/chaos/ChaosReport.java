package io.sluice.testbed.chaos;

import io.sluice.testbed.bench.Report;
import io.sluice.testbed.fleet.Statistics;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** How a run of {@code bench chaos} went. */
final class ChaosReport implements Report {
    private static final double LEAST_USED_PERCENT = 93;
    private static final double MOST_REJECTED_PERCENT = 0.1;
    private static final ObjectMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .build();

    final String command;
    final Instant began;
    final ChaosOptions options;
    final List<Judged> legs;
    final List<Finding> overall;

    ChaosReport(String command, Instant began, ChaosOptions options, List<Evidence> legs) {
        this.command = command;
        this.began = began;
        this.options = options;
        this.legs = legs.stream().map(Judged::of).toList();
        this.overall = List.of(use(), rejections());
    }

    /** A leg and what was found. */
    record Judged(
            Leg leg,
            double seconds,
            long requests,
            long rejected,
            Map<String, Long> rejections,
            Limit binding,
            double used,
            double allowed,
            long waitP50Ms,
            long waitP99Ms,
            Map<String, Integer> outcomes,
            List<Fault> faults,
            int sentAlone,
            int sentAloneWithoutFault,
            List<Finding> findings) {

        static Judged of(Evidence leg) {
            Judge judge = new Judge(leg);
            Limit binding = Stream.of(Limit.values())
                    .max(Comparator.comparingDouble(limit -> judge.used(limit) / Math.max(1, judge.allowed(limit))))
                    .orElseThrow();
            Map<String, Long> rejections = new TreeMap<>();
            leg.log().stream()
                    .filter(entry -> entry.is("rejected"))
                    .forEach(entry -> rejections.merge(String.valueOf(entry.kind()), 1L, Long::sum));
            return new Judged(
                    leg.leg(),
                    (leg.stopMs() - leg.startMs()) / 1_000.0,
                    judge.requests(),
                    leg.rejected(),
                    rejections,
                    binding,
                    judge.used(binding),
                    judge.allowed(binding),
                    Statistics.percentile(leg.waitsMs(), 50),
                    Statistics.percentile(leg.waitsMs(), 99),
                    leg.outcomes(),
                    Fault.of(leg, judge),
                    leg.aloneMs().size(),
                    leg.aloneWithoutFaultMs().size(),
                    judge.findings());
        }

        double usedPercent() {
            return 100 * used / Math.max(1, allowed);
        }
    }

    /**
     * A fault that was caused.
     *
     * @param atS from the leg's start signal
     * @param recoveredMs after its end; -1 where the leg ended first
     */
    record Fault(String kind, double atS, double lastedS, double recoveredMs) {
        static List<Fault> of(Evidence leg, Judge judge) {
            List<Fault> faults = new ArrayList<>();
            List<Double> recoveries = judge.recoveries();
            for (int i = 0; i < recoveries.size(); i++) {
                Happening one = leg.happenings().get(i);
                faults.add(new Fault(
                        one.kind().word(),
                        (one.fromMs() - leg.startMs()) / 1_000.0,
                        (one.toMs() - one.fromMs()) / 1_000.0,
                        recoveries.get(i)));
            }
            return faults;
        }
    }

    private Finding use() {
        double used = legs.stream().mapToDouble(Judged::used).sum();
        double allowed = legs.stream().mapToDouble(Judged::allowed).sum();
        return Finding.atLeast(
                "% of the allowed budget used", 100 * used / Math.max(1, allowed), LEAST_USED_PERCENT, "");
    }

    private Finding rejections() {
        long rejected = legs.stream().mapToLong(Judged::rejected).sum();
        long requests = legs.stream().mapToLong(Judged::requests).sum();
        return Finding.atMost(
                "",
                "% of the requests rejected by the provider",
                100.0 * rejected / Math.max(1, requests),
                MOST_REJECTED_PERCENT,
                rejected + " of " + requests);
    }

    @Override
    public boolean met() {
        return Stream.concat(overall.stream(), legs.stream().flatMap(leg -> leg.findings().stream()))
                .allMatch(Finding::met);
    }

    @Override
    public String toTable() {
        return ChaosTable.of(this);
    }

    @Override
    public String toJson() {
        return JSON.writeValueAsString(new Document(
                command,
                began,
                options.seed(),
                options.length().toMillis() / 1_000.0,
                options.processes(),
                options.agents(),
                legs.stream().map(Part::of).toList(),
                overall.stream().map(Row::of).toList(),
                met()));
    }

    private record Document(
            String command,
            Instant date,
            long seed,
            double seconds,
            int processes,
            int agents,
            List<Part> legs,
            List<Row> overall,
            boolean met) {}

    private record Part(
            String leg,
            double seconds,
            long requests,
            long rejected,
            Map<String, Long> rejections,
            double usedPercent,
            long waitP50Ms,
            long waitP99Ms,
            Map<String, Integer> outcomes,
            List<Fault> faults,
            int sentAlone,
            int sentAloneWithoutFault,
            List<Row> findings) {
        static Part of(Judged one) {
            return new Part(
                    one.leg.word(),
                    one.seconds,
                    one.requests,
                    one.rejected,
                    one.rejections,
                    one.usedPercent(),
                    one.waitP50Ms,
                    one.waitP99Ms,
                    one.outcomes,
                    one.faults,
                    one.sentAlone,
                    one.sentAloneWithoutFault,
                    one.findings.stream().map(Row::of).toList());
        }
    }

    private record Row(String law, String what, double measured, String reach, boolean met, String beside) {
        static Row of(Finding one) {
            return new Row(one.law(), one.what(), one.measured(), ChaosTable.reach(one), one.met(), one.beside());
        }
    }
}
