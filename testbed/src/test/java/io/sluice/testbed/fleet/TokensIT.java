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

/** What is reserved for a call's tokens decides how much of a budget a fleet can use. */
@Timeout(90)
class TokensIT {
    private static final Duration BURST = Duration.ofSeconds(10);

    /** Agents allow for 32,000 tokens of output and get about 500, as coding agents do. */
    @Test
    void whatAnswersReallyTakeIsLearnedAndNearlyAllOutputIsUsed() throws Exception {
        assertThat(ofOutput("learned", 10)).isGreaterThan(90);
    }

    @Test
    void reservingWhatEachCallMayTakeLeavesNearlyAllOutputUnused() throws Exception {
        assertThat(ofOutput("max", 8)).isLessThan(10);
    }

    /** In percent, once 20 answers and more are known. */
    private static double ofOutput(String reserve, int seconds) throws Exception {
        Policy policy = Policy.parse("""
                project: learned
                provider: anthropic
                classes:
                  - {name: sonnet, models: ["claude-sonnet-*"], output_reserve: %s, max_output: 32000, limits: {otpm: 600000}}
                """.formatted(reserve));
        String profile = """
                think_ms: 10
                spread: 0.3
                sizes: [{name: one, share: 1, input: 300, output: 500, max_output: 32000, duration_ms: 1000}]
                """;
        try (Arena arena = new Arena(
                EmulatorOptions.of("anthropic", Limits.parse("otpm=600000")).counting(Counting.BUCKET, BURST))) {
            FleetReport report = arena.run(policy, profile, 2, 20, seconds, Strategy.SLUICE);

            assertThat(report.rejected()).isZero();
            List<LogEntry> log = arena.log();
            long fromMs = Arena.only("accepted", log).get(0).tMs() + 4_000;
            Budget.Interval steady = new Budget.Interval(fromMs, fromMs + 4_000);
            PolicyNumbers numbers = PolicyNumbers.of(policy.toJson(), Profile.DEFAULT.model());
            double used = Budget.used("otpm", numbers, log, steady);
            return 100 * used / (numbers.perSecond("otpm") * steady.seconds());
        }
    }

    /** Cache reads cost nothing of Anthropic's input limit: at four fifths cached, five times its number passes. */
    @Test
    void cacheReadsLetFiveTimesTheInputLimitThrough() throws Exception {
        Policy policy = Policy.parse("""
                project: cached
                provider: anthropic
                headroom: 1
                classes: [{name: sonnet, models: ["claude-sonnet-*"], limits: {itpm: 200000}}]
                """);
        String profile = """
                think_ms: 10
                sizes: [{name: one, share: 1, input: 200, cache_read: 800, output: 20, max_output: 40, duration_ms: 100}]
                """;
        try (Arena arena = new Arena(
                EmulatorOptions.of("anthropic", Limits.parse("itpm=200000")).counting(Counting.BUCKET, BURST))) {
            FleetReport report = arena.run(policy, profile, 2, 8, 8, Strategy.SLUICE);

            assertThat(report.rejected()).isZero();
            List<LogEntry> accepted = Arena.only("accepted", arena.log());
            long fromMs = accepted.get(0).tMs() + 1_000;
            long input = accepted.stream()
                    .filter(entry -> entry.tMs() >= fromMs && entry.tMs() < fromMs + 6_000)
                    .mapToLong(entry -> entry.input() + entry.cacheRead())
                    .sum();
            assertThat(input * 10).as("a minute").isGreaterThan(970_000);
        }
    }

    /** OpenAI charges a call's cap when it begins, and what it did not use is gone. */
    @Test
    void tokensAMinuteAreUsedAsOpenAiCountsThem() throws Exception {
        Policy policy = Policy.parse("""
                project: tpm
                provider: openai
                classes: [{name: all, models: ["gpt-*"], limits: {tpm: 600000}}]
                """);
        String profile = """
                model: gpt-5
                think_ms: 10
                sizes: [{name: one, share: 1, input: 300, output: 100, max_output: 1000, duration_ms: 200}]
                """;
        try (Arena arena = new Arena(
                EmulatorOptions.of("openai", Limits.parse("tpm=600000")).counting(Counting.BUCKET, BURST))) {
            FleetReport report = arena.run(policy, profile, 2, 10, 9, Strategy.SLUICE);

            assertThat(report.rejected()).isZero();
            assertThat(report.binding()).isEqualTo("tpm");
            assertThat(report.usedPercent()).isBetween(70.0, 101.0);
        }
    }
}
