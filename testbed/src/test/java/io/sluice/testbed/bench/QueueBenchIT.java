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

/** The shape of a report, from a run too short to say anything of speed; and the numbers that hang on no machine. */
@Tag("smoke")
class QueueBenchIT {
    private static final QueueOptions TINY =
            new QueueOptions(List.of(10, 200), 2, 3, 2_000, Duration.ofMillis(200), 40, Duration.ofSeconds(1), 30, 1);
    private static final List<String> progress = new ArrayList<>();
    private static QueueReport report;

    @BeforeAll
    static void run() throws InterruptedException {
        report = QueueBench.run(TINY, "./sluice bench queue", progress::add);
    }

    @Test
    void everyStepIsMeasuredInEveryLine() {
        List<String> lines = report.toTable().lines().toList();

        assertThat(lines.get(0))
                .matches("`./sluice bench queue`, \\d{4}-\\d\\d-\\d\\dT.*Z, Redis \\d.*, JDK \\d.*, \\d+ cores; "
                        + "2 rounds, median \\(min..max\\), seed 1");
        for (LineStep step : LineStep.values()) {
            assertThat(lines)
                    .filteredOn(line -> line.startsWith("| " + step.label + " |"))
                    .singleElement()
                    .asString()
                    .matches("\\| [^|]+ \\| ([0-9]+ \\([0-9]+\\))?( \\| [0-9]+ \\([0-9]+\\)){5} \\|");
        }
    }

    /** A longer line may take a few more steps down a tree, and no more than that. */
    @Test
    void howOftenAScriptCallsRedisDoesNotGrowWithTheLine() {
        for (LineStep step : List.of(LineStep.START_NEXT, LineStep.ENQUEUE, LineStep.CLAIM, LineStep.IDLE_BEAT)) {
            double shortLine = calls(10, step);

            assertThat(calls(200, step)).as(step.label).isBetween(shortLine * 0.5, shortLine * 1.5);
        }
    }

    @Test
    void everyNumberThatIsPromisedGetsAVerdict() {
        assertThat(report.toTable().lines().filter(line -> line.matches(".*\\| (met|missed by).*")))
                .hasSize(10);
    }

    @Test
    void nothingStaysOfWhatIsForgotten() {
        assertThat(report.reached)
                .filteredOn(one -> one.what().startsWith("left when all are forgotten"))
                .singleElement()
                .satisfies(one -> assertThat(one.measured().median()).isLessThan(5));
    }

    @Test
    void programsReadTheSame() {
        JsonNode json = JsonMapper.shared().readTree(report.toJson());

        assertThat(json.at("/run/redis").asString()).isNotBlank();
        assertThat(json.at("/seed").asLong()).isEqualTo(1);
        assertThat(json.at("/lines")).hasSize(5);
        assertThat(json.at("/lines/0/rounds/claim")).hasSize(2);
        assertThat(json.at("/lines/0/rounds/claim/0/micros").asDouble()).isPositive();
        assertThat(json.at("/reached/0/measured/median").asDouble()).isPositive();
        assertThat(json.at("/met").asBoolean()).isEqualTo(report.met());
    }

    @Test
    void everyPartIsTold() {
        for (String part : List.of("line", "memory", "through", "idle", "fair")) {
            assertThat(progress).as(part).anyMatch(text -> text.startsWith(part));
        }
    }

    private static double calls(int waiters, LineStep step) {
        return report.costs
                .line(Crowd.DISTINCT, waiters)
                .of(step, ScriptCost::calls)
                .median();
    }
}
