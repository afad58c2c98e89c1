package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Policy;
import io.sluice.testbed.emulator.Behaviour;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A deploy from 5 agents to 100, at a provider that refuses a sharp rise. */
@Timeout(90)
class RampIT {
    private static final String RAMP = "ramp: {from: 0.2, double_every: 5s}";

    @Test
    void aRampIsNeverTooSteep() throws Exception {
        assertThat(refused(RAMP, 22)).isZero();
    }

    @Test
    void withoutOneTheRiseIsRefused() throws Exception {
        assertThat(refused("", 13)).isPositive();
    }

    /** One at once, one more each second. */
    @Test
    void newAgentsBeginOneAfterTheOther() throws Exception {
        Policy policy = Policy.parse("""
                project: stagger
                provider: anthropic
                headroom: 1
                ramp: {from: 1, agents_per_minute: 60}
                classes: [{name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: 6000}}]
                """);
        String profile = """
                think_ms: 200
                sizes: [{name: one, share: 1, input: 100, output: 20, max_output: 40, duration_ms: 50}]
                """;
        try (Arena arena = new Arena(EmulatorOptions.of("anthropic", Limits.NONE))) {
            FleetReport report = arena.run(policy, profile, 2, 10, 7, Strategy.SLUICE);

            assertThat(report.callsPerAgent().max()).isGreaterThan(10);
            List<LogEntry> accepted = Arena.only("accepted", arena.log());
            long beganMs = accepted.get(0).tMs();
            for (int second = 1; second <= 6; second++) {
                long untilMs = beganMs + 1_000L * second;
                long agents = accepted.stream()
                        .filter(entry -> entry.tMs() < untilMs)
                        .map(LogEntry::agent)
                        .distinct()
                        .count();
                // One more where the first answer was late. Nothing would hold twenty back otherwise.
                assertThat(agents).as("in %d s", second).isBetween((long) second - 2, second + 2L);
            }
        }
    }

    private static long refused(String ramp, int seconds) throws Exception {
        Policy policy = Policy.parse("""
                project: deploy
                provider: anthropic
                %s
                classes: [{name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: 6000}}]
                """.formatted(ramp));
        String profile = """
                think_ms: 200
                sizes: [{name: one, share: 1, input: 100, output: 20, max_output: 40, duration_ms: 100}]
                """;
        EmulatorOptions provider = EmulatorOptions.of("anthropic", Limits.NONE)
                .behaviour(Behaviour.NONE.with("acceleration", "start=2400,growth=2,every=5s,of=requests"));
        try (Arena arena = new Arena(provider)) {
            CompletableFuture<FleetReport> few = arena.start(policy, profile, 1, 5, seconds);
            arena.logOnce(log -> Arena.only("accepted", log).size() >= 100);
            FleetReport many = arena.run(policy, profile, 2, 48, seconds / 2, Strategy.SLUICE);
            FleetReport all = Arena.end(few);

            assertThat(Arena.gaveUp(many)).isEmpty();
            assertThat(all.accepted()).isGreaterThan(250);
            return all.rejections().getOrDefault("acceleration", 0L);
        }
    }
}
