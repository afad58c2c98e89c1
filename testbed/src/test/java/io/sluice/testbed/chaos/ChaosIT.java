package io.sluice.testbed.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.chaos.ChaosReport.Judged;
import io.sluice.testbed.chaos.Schedule.Part;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Some twenty seconds with one fault of each sort: no law is broken. Whether the budget is used and how soon all is as before is for
 * longer runs on a quiet machine: {@code ./sluice bench chaos}.
 */
@Timeout(300)
class ChaosIT {
    private static final ChaosOptions OPTIONS = new ChaosOptions(Duration.ofSeconds(24), 1, 2, 12);
    private static final Schedule SCHEDULE = new Schedule(
            1,
            List.of(
                    part(Leg.SENTINEL, 10, at(Kind.KILL, 1_500, 0), at(Kind.CRASH, 6_000, 0)),
                    part(Leg.CABLE, 9, at(Kind.PARTITION, 1_000, 1_500), at(Kind.PAUSE, 3_500, 4_000)),
                    part(Leg.EMPTIED, 5, at(Kind.EMPTY, 2_000, 0))));

    private final List<String> progress = new ArrayList<>();

    @Test
    void noLawIsBrokenWhileThingsBreak() throws Exception {
        ChaosReport report = Chaos.run(SCHEDULE, OPTIONS, "./sluice bench chaos", progress::add);

        assertThat(progress).first().asString().contains("1.5 s  kill p1").contains("2.0 s  empty");
        assertThat(report.legs).extracting(Judged::leg).containsExactly(Leg.values());
        for (Judged leg : report.legs) {
            assertThat(leg.findings())
                    .as("%s%n%s", leg.leg(), report.toTable())
                    .allSatisfy(finding -> assertThat(finding.law().isEmpty() || finding.met())
                            .as(finding.toString())
                            .isTrue());
            assertThat(leg.requests()).isGreaterThan(30);
        }
        faultsAreToldAsTheyHappened(report);
        jsonAndTableSayTheSame(report);
    }

    private static void faultsAreToldAsTheyHappened(ChaosReport report) {
        assertThat(report.legs.get(0).faults())
                .extracting(ChaosReport.Fault::kind)
                .containsExactly("kill", "crash");
        assertThat(report.legs.get(1).faults())
                .satisfiesExactly(
                        partition -> assertThat(partition.lastedS()).isGreaterThanOrEqualTo(1.5),
                        pause -> assertThat(pause.lastedS()).isGreaterThanOrEqualTo(4));
    }

    private static void jsonAndTableSayTheSame(ChaosReport report) {
        JsonNode json = JsonMapper.shared().readTree(report.toJson());
        assertThat(json.path("met").asBoolean()).isEqualTo(report.met());
        assertThat(json.path("seed").asLong()).isEqualTo(1);
        int findings = report.overall.size()
                + report.legs.stream().mapToInt(leg -> leg.findings().size()).sum();
        assertThat(report.toTable().lines().filter(line -> line.matches(".*\\| (met|MISSED) \\|.*")))
                .hasSize(findings);
        assertThat(report.toTable()).contains(report.met() ? "\nPASSED." : "\nFAILED.");
    }

    private static Part part(Leg leg, int seconds, Incident... incidents) {
        return new Part(leg, Duration.ofSeconds(seconds), List.of(incidents));
    }

    private static Incident at(Kind kind, int atMs, int lastsMs) {
        return new Incident(kind, atMs, lastsMs, 1, 50);
    }
}
