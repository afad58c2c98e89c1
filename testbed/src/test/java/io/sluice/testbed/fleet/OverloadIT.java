package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Policy;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(90)
class OverloadIT {
    private static final Policy POLICY = Policy.parse("""
            project: overload
            provider: anthropic
            classes: [{name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: 1200, concurrency: 8}}]
            """);
    private static final String PROFILE = """
            think_ms: 20
            sizes: [{name: one, share: 1, input: 100, output: 20, max_output: 40, duration_ms: 50}]
            """;

    /**
     * 529 is the provider's trouble, not our budget (tombii/better-ccflare#236, anthropics/claude-code#75087). The fleet
     * backs off together, obeys a wait that is named, and is whole again when the provider is.
     */
    @Test
    void aFleetBacksOffTogetherAndRecoversWhole() throws Exception {
        try (Arena arena = new Arena(EmulatorOptions.of("anthropic", Limits.NONE))) {
            CompletableFuture<FleetReport> fleet = arena.start(POLICY, PROFILE, 2, 5, 20);
            arena.logOnce(log -> Arena.only("accepted", log).size() >= 100);
            long beganMs = arena.nowMs();
            arena.behave("{\"overload\": {\"for\": \"2500ms\"}}");
            List<LogEntry> recovered = arena.logOnce(
                    log -> Arena.only("accepted", log).stream().anyMatch(entry -> entry.tMs() >= beganMs + 2_500));
            // Those in flight when it began, then one after about 1 s and one after 2 s more.
            assertThat(Arena.only("rejected", recovered)).hasSizeLessThanOrEqualTo(8 + 3);
            long wholeMs = Arena.callsBetween(beganMs + 2_499, Long.MAX_VALUE, recovered)
                            .get(0)
                            .tMs()
                    + 1_000;
            arena.until(wholeMs + 3_000);
            // 18 a second is the policy's rate.
            assertThat(Arena.callsBetween(wholeMs, wholeMs + 3_000, arena.log()))
                    .as("full speed again")
                    .hasSizeGreaterThan(45);

            long toldMs = arena.refuseOnce("\"retry-after\": \"3s\"");
            FleetReport report = Arena.end(fleet);

            assertThat(Arena.callsBetween(toldMs + 1_000, toldMs + 3_000, arena.log()))
                    .as("told to wait 3 s")
                    .isEmpty();
            assertThat(Arena.callsBetween(toldMs + 3_000, Long.MAX_VALUE, arena.log()))
                    .as("and then goes on")
                    .isNotEmpty();
            assertThat(report.rejections()).containsOnlyKeys("overload");
            assertThat(Arena.gaveUp(report)).isEmpty();
        }
    }
}
