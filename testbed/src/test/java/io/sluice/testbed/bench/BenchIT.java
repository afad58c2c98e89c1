package io.sluice.testbed.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The shape of a report, from rounds too short to say anything of speed. */
@Tag("smoke")
class BenchIT {
    private static final BenchOptions TINY = new BenchOptions(Duration.ofMillis(60), 2, 4);
    private static final List<String> progress = new ArrayList<>();
    private static BenchReport report;

    @BeforeAll
    static void run() throws InterruptedException {
        report = Bench.run(TINY, "./sluice bench pairs", progress::add);
    }

    @Test
    void everyContenderIsMeasuredAloneAndContended() {
        String spread = "[0-9.,]+ \\([0-9.,]+\\.\\.[0-9.,]+\\)";
        List<String> lines = report.toTable().lines().toList();

        assertThat(lines.get(0))
                .matches("`./sluice bench pairs`, \\d{4}-\\d\\d-\\d\\dT.*Z, Redis \\d.*, JDK \\d.*, \\d+ cores; "
                        + "2 rounds of 0.06 s, .*");
        for (String contender : List.of("no-op", "Sluice", "Bucket4j")) {
            for (int threads : new int[] {1, 4}) {
                assertThat(lines)
                        .filteredOn(line -> line.startsWith("| " + contender + " | " + threads + " |"))
                        .singleElement()
                        .asString()
                        .matches("\\| \\S+ \\| \\d+( \\| " + spread + "){7} \\|");
            }
        }
    }

    @Test
    void everyRuleGetsAVerdict() {
        assertThat(report.toTable().lines().filter(line -> line.matches(".*\\| (met|missed by).* \\|")))
                .hasSize(Rule.pairs(TINY.threads()).size());
    }

    @Test
    void programsReadTheSame() {
        JsonNode json = JsonMapper.shared().readTree(report.toJson());

        assertThat(json.at("/run/redis").asString()).isNotBlank();
        assertThat(json.at("/measured")).hasSize(6);
        assertThat(json.at("/measured/0/rounds")).hasSize(2);
        assertThat(json.at("/measured/0/rounds/0/pairs_per_second").asDouble()).isPositive();
        assertThat(json.at("/verdicts/0/ratio/median").asDouble()).isPositive();
        assertThat(json.at("/met").asBoolean()).isEqualTo(report.met());
    }

    @Test
    void everyTurnIsTold() {
        assertThat(progress).hasSize(2 * 3 * (1 + TINY.rounds()));
    }
}
