package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Policy;
import io.sluice.testbed.emulator.Behaviour;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A deploy from 5 agents to 100, at a provider that refuses a sharp rise. */
@Timeout(90)
class RampIT {
    private static final String RAMP = "ramp: {from: 0.05, double_every: 2s}";

    @Test
    void aRampIsNeverTooSteep() throws Exception {
        assertThat(refused(RAMP)).isZero();
    }

    @Test
    void withoutOneTheRiseIsRefused() throws Exception {
        assertThat(refused("")).isPositive();
    }

    private static long refused(String ramp) throws Exception {
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
                .behaviour(Behaviour.NONE.with("acceleration", "start=900,growth=2.5,every=2s,of=requests"));
        try (Arena arena = new Arena(provider)) {
            CompletableFuture<FleetReport> few = arena.start(policy, profile, 1, 5, 20);
            arena.logOnce(log -> Arena.only("accepted", log).size() >= 60);
            FleetReport many = arena.run(policy, profile, 2, 48, 10, Strategy.SLUICE);
            FleetReport all = Arena.end(few);

            assertThat(many.givenUpBecause()).isEmpty();
            assertThat(all.accepted()).isGreaterThan(300);
            return all.rejections().getOrDefault("acceleration", 0L);
        }
    }
}
