package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Policy;
import io.sluice.testbed.emulator.Counting;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Limits that the provider has and the policy does not know. */
@Timeout(90)
class UnknownLimitsIT {
    private static final String PROFILE = """
            think_ms: 10
            sizes: [{name: one, share: 1, input: 100, output: 20, max_output: 40, duration_ms: 300}]
            """;

    @Test
    void callsInFlightSettleAtWhatTheProviderTakes() throws Exception {
        Policy policy = Policy.parse("""
                project: slots
                provider: anthropic
                classes: [{name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: 6000}}]
                """);
        try (Arena arena = new Arena(EmulatorOptions.of("anthropic", Limits.parse("concurrency=8")))) {
            FleetReport report = arena.run(policy, PROFILE, 2, 10, 9, Strategy.SLUICE);

            assertThat(Arena.gaveUp(report)).isEmpty();
            assertThat(report.rejections()).containsOnlyKeys("concurrency");
            assertThat(report.accepted()).isGreaterThan(80);
            assertThat(report.rejected()).isLessThan(report.accepted() / 10);
        }
    }

    /** The provider allows 600 a minute; the fleet begins with 1,200 and does not know. */
    @Test
    void anAmountThatNobodyStatedIsFound() throws Exception {
        Policy policy = Policy.parse("""
                project: found
                provider: anthropic
                classes: [{name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: {adaptive: {start: 1200, max: 6000}}}}]
                """);
        try (Arena arena = new Arena(EmulatorOptions.of("anthropic", Limits.parse("rpm=600"))
                .counting(Counting.BUCKET, Duration.ofSeconds(2)))) {
            FleetReport report = arena.run(policy, PROFILE, 2, 10, 15, Strategy.SLUICE);

            assertThat(Arena.gaveUp(report)).isEmpty();
            List<LogEntry> log = arena.log();
            long fromMs = Arena.only("accepted", log).get(0).tMs() + 6_000;
            List<LogEntry> found = Arena.callsBetween(fromMs, fromMs + 7_000, log);
            assertThat(Arena.only("accepted", found)).as("of 70").hasSizeGreaterThan(49);
            assertThat(Arena.only("rejected", found)).hasSizeLessThanOrEqualTo(1);
        }
    }
}
