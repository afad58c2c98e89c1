package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Policy;
import io.sluice.Priority;
import io.sluice.testbed.fleet.FleetEvent.Outcome;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class FleetReportTest {
    private static final Policy POLICY = Policy.parse("""
            project: p
            provider: anthropic
            classes: [{name: all, models: ["*"], limits: {rpm: 60, itpm: 60000}}]
            """);

    /** Two agents, ten seconds: one call each accepted, one of three requests rejected. */
    private final FleetReport report = report();

    @Test
    void takesFromTheProviderWhatTheProviderKnows() {
        assertThat(report.accepted()).isEqualTo(2);
        assertThat(report.completed()).isEqualTo(2);
        assertThat(report.rejections()).containsOnlyKeys("input").containsEntry("input", 1L);
        assertThat(report.jain()).isEqualTo(0.9);
        assertThat(report.callsPerAgent()).isEqualTo(new FleetReport.Spread(1, 1, 1));
    }

    @Test
    void takesFromTheAgentsWhatOnlyTheyKnow() {
        assertThat(report.tried()).isEqualTo(4);
        assertThat(report.givenUp()).isEqualTo(1);
        assertThat(report.cutOff()).isEqualTo(1);
        assertThat(report.givenUpBecause()).containsEntry("rejected 10 times", 1L);
        assertThat(report.waits()).isEqualTo(new FleetReport.Waits(3, 200, 300, 300));
        assertThat(report.waitsByPriority()).containsEntry("batch", new FleetReport.Waits(1, 300, 300, 300));
    }

    @Test
    void theLimitWithTheHighestUseBinds() {
        // 2 of 4.5 + 9 requests, 3,000 of 4,500 + 9,000 tokens.
        assertThat(report.binding()).isEqualTo("itpm");
        assertThat(report.usedPercent()).isEqualTo(100 * 3_000 / 13_500.0);
    }

    @Test
    void overshootIsTheWorstMinuteAboveTheProvidersLimit() {
        assertThat(report.overshootPercent()).isEqualTo(10);
    }

    @Test
    void isOneJsonObjectInSnakeCase() {
        assertThat(Json.MAPPER.readTree(report.toJson()).path("used_percent").asDouble())
                .isEqualTo(report.usedPercent());
        assertThat(report.toJson()).contains("\"calls_per_agent\":{\"min\":1");
    }

    @Test
    void theTableHasAColumnForEachRun() {
        assertThat(FleetTable.of(List.of(report, report)))
                .contains("strategy")
                .containsPattern("calls tried +4 +4\n")
                .containsPattern("allowed budget used +22.2 % +22.2 %\n");
    }

    @Test
    void theFlowTableHasARowForEachPriorityTeamAndFlow() {
        String table = FlowTable.of(report);

        assertThat(table)
                .containsPattern("(?m)^priority batch .*0\\.30 s")
                .containsPattern("(?m)^team - ")
                .containsPattern("(?m)^flow other normal +4 ")
                .contains("Jain's index: - (fewer than two flows were always backlogged)")
                .contains("left out, a call waiting less than 99 % of the time: other normal")
                .contains("longest wait 9.00 s (p0/a0, no team normal); 0 calls waited longer than 30.00 s");
    }

    @Test
    void theJsonHasWaitsUseAndRejectionsByTeamAndByPriority() {
        JsonNode json = Json.MAPPER.readTree(report.toJson());

        JsonNode batch = json.path("by_priority").path("batch");
        assertThat(batch.path("waits").path("p99_ms").asLong()).isEqualTo(300);
        assertThat(batch.path("rejected").isNumber()).isTrue();
        assertThat(batch.path("use_percent").isNumber()).isTrue();
        assertThat(json.path("by_team").path("-").path("waits").path("calls").asLong())
                .isEqualTo(3);
        assertThat(json.path("flow_fairness").has("jain")).isTrue();
        assertThat(json.path("flows").path(0).path("always_backlogged").isBoolean())
                .isTrue();
        assertThat(json.path("starvation").path("bound_ms").asLong()).isEqualTo(30_000);
    }

    private static FleetReport report() {
        FleetOptions options = new FleetOptions(
                null,
                POLICY,
                URI.create("http://localhost"),
                1,
                2,
                Duration.ofSeconds(10),
                Strategy.NONE,
                Profile.DEFAULT,
                1);
        List<LogEntry> log = List.of(
                entry(0, "accepted", "1", "p0/a0", null, 1_000, 0),
                entry(1, "rejected", "2", "p0/a1", "input", 2_000, 0),
                entry(500, "finished", "1", "p0/a0", null, 1_000, 0),
                entry(600, "accepted", "3", "p0/a1", null, 2_000, 0),
                entry(900, "finished", "3", "p0/a1", null, 2_000, 0));
        String stats = "{\"limits\":{\"rpm\":10,\"itpm\":50000},\"worst_minute\":{\"requests\":11,\"input\":3000}}";
        return FleetReport.of(new FleetReport.Run(
                options,
                PolicyNumbers.of(POLICY.toJson(), "m"),
                PolicyFlows.of(POLICY.toJson(), "m"),
                // The first grant came 100 ms after the start signal: 10 s are judged.
                10.1,
                10_000,
                log,
                Json.MAPPER.readTree(stats),
                List.of(
                        call(Outcome.COMPLETED, Priority.NORMAL, 100, null),
                        call(Outcome.COMPLETED, Priority.NORMAL, 200, null),
                        call(Outcome.GIVEN_UP, Priority.BATCH, 300, "rejected 10 times"),
                        call(Outcome.CUT_OFF, Priority.NORMAL, 9_000, null)),
                List.of()));
    }

    private static LogEntry entry(
            long tMs, String event, String id, String agent, @Nullable String kind, long input, long output) {
        return new LogEntry(1, tMs, event, id, agent, kind, input, 0, 0, input, output, 0);
    }

    private static FleetEvent.Call call(Outcome outcome, Priority priority, long waitedMs, @Nullable String why) {
        return new FleetEvent.Call(
                "p0/a0",
                null,
                priority,
                null,
                "small",
                outcome,
                outcome == Outcome.COMPLETED,
                0,
                waitedMs,
                0,
                0,
                Charge.NOTHING,
                why);
    }
}
