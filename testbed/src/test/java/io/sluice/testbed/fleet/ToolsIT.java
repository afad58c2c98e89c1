package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Policy;
import io.sluice.testbed.emulator.Behaviour;
import io.sluice.testbed.emulator.Counting;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tasks whose calls carry what tools told before; the provider refuses some of them in the middle. */
@Timeout(90)
class ToolsIT {
    private static final Policy POLICY = Policy.parse("""
            project: tools
            provider: anthropic
            classes: [{name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: 600, concurrency: 6}}]
            """);

    /** Agents that repeat a call by themselves do so twice, as the SDKs of Anthropic and OpenAI do. */
    private static final String PROFILE = """
            think_ms: 20
            tries: 3
            sizes: [{name: one, share: 1, input: 100, output: 20, max_output: 40, duration_ms: 60}]
            tools: {runs: 3, ms: 20, result: 50}
            """;

    @Test
    void whatTheProviderRefusesInTheMiddleOfATaskLosesNoneAndRunsNoToolTwice() throws Exception {
        FleetReport report = run(Strategy.SLUICE);

        assertThat(report.rejected()).as("there was something to survive").isPositive();
        assertThat(report.tasks()).isNotNull();
        assertThat(report.tasks().completed()).isPositive();
        assertThat(report.tasks().lost()).isZero();
        assertThat(report.tasks().toolRunsRepeated()).isZero();
        assertThat(report.tasks().toolRuns())
                .isGreaterThanOrEqualTo(3 * report.tasks().completed());
    }

    @Test
    void withoutItTasksAreLostAndToolsRunAgain() throws Exception {
        FleetReport report = run(Strategy.NONE);

        assertThat(report.tasks()).isNotNull();
        assertThat(report.tasks().lost()).isPositive();
        assertThat(report.tasks().toolRunsRepeated()).isPositive();
    }

    private static FleetReport run(Strategy strategy) throws Exception {
        EmulatorOptions provider = EmulatorOptions.of("anthropic", Limits.parse("rpm=600,concurrency=6"))
                .counting(Counting.BUCKET, Duration.ofSeconds(6))
                .behaviour(Behaviour.NONE.with("overload", "share=0.05,status=429,retry-after=1s"));
        try (Arena arena = new Arena(provider)) {
            return arena.run(POLICY, PROFILE, 2, 10, 8, strategy);
        }
    }
}
