package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Policy;
import io.sluice.testbed.emulator.Behaviour;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class NoMoneyIT {
    /**
     * A 429 means "too fast" and "no money left" alike, and clients kept backing off for what waiting cannot mend
     * (langchain-ai/langchainjs#1929). One call finds out; whoever waits hears the reason at once; nobody tries again.
     */
    @ParameterizedTest
    @CsvSource({"openai, credits, credits", "anthropic, cap, spend"})
    void anEmptyAccountIsMetOnceAndToldToEverybody(String provider, String as, String kind) throws Exception {
        Policy policy = Policy.parse("""
                project: no-money
                provider: %s
                classes: [{name: all, models: ["*"], limits: {rpm: 600, concurrency: 1}}]
                """.formatted(provider));
        String profile = """
                model: any-model
                think_ms: 300
                sizes: [{name: one, share: 1, input: 100, output: 20, max_output: 40, duration_ms: 30}]
                """;
        EmulatorOptions broke = EmulatorOptions.of(provider, Limits.parse("usd=1"))
                .behaviour(Behaviour.NONE.with("spend", "as=" + as + ",spent=true"));
        try (Arena arena = new Arena(broke)) {
            FleetReport report = arena.run(policy, profile, 2, 5, 3, Strategy.SLUICE);

            assertThat(report.rejections()).containsOnlyKeys(kind).containsEntry(kind, 1L);
            assertThat(report.accepted()).isZero();
            assertThat(Arena.gaveUp(report))
                    .containsOnlyKeys("provider: " + kind, "refused: hold")
                    .containsEntry("provider: " + kind, 1L);
            assertThat(report.givenUp()).isGreaterThanOrEqualTo(10);
            assertThat(report.waits().maxMs()).as("told promptly").isLessThan(2_000);
        }
    }
}
