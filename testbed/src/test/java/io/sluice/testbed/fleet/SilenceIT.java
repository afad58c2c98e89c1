package io.sluice.testbed.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Policy;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One process is told to wait, and all of them do. */
@Timeout(90)
class SilenceIT {
    private static final int RETRY_AFTER_SECONDS = 5;
    /**
     * The provider meters the account, but each process knew only its own 429 (koala73/worldmonitor#7190): one was told to
     * wait, the others kept calling, and one that started later knew nothing. Here the third process connects for the first
     * time while the others are silent.
     */
    @Test
    void oneRetryAfterSilencesEveryProcessAlsoOneThatStartsLater() throws Exception {
        Policy policy = Policy.parse("""
                project: silence
                provider: anthropic
                classes: [{name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: 3000, concurrency: 8}}]
                """);
        String profile = """
                think_ms: 40
                sizes: [{name: one, share: 1, input: 100, output: 20, max_output: 40, duration_ms: 30}]
                """;
        String late = profile.replace("input: 100", "input: 777");
        try (Arena arena = new Arena(EmulatorOptions.of("anthropic", Limits.NONE))) {
            Process third = new ProcessBuilder(Child.command()).start();
            try {
                CompletableFuture<FleetReport> fleet = arena.start(policy, profile, 2, 5, 11);
                arena.logOnce(log -> Arena.only("accepted", log).size() >= 40);
                long refusedMs = arena.refuseOnce("\"status\": 429, \"retry-after\": \"5s\"");
                long reopensMs = refusedMs + RETRY_AFTER_SECONDS * 1_000;

                say(third, Json.MAPPER.writeValueAsString(config(arena, policy, late)));
                assertThat(third.inputReader().readLine()).contains("ready");
                assertThat(arena.nowMs()).as("started in time").isLessThan(reopensMs - 1_000);
                say(third, "go");
                FleetReport report = Arena.end(fleet);

                List<LogEntry> log = arena.log();
                assertThat(Arena.callsBetween(refusedMs + 1_000, reopensMs, log))
                        .isEmpty();
                assertThat(Arena.only("rejected", log)).allMatch(entry -> entry.tMs() <= refusedMs + 1_000);
                assertThat(Arena.callsBetween(reopensMs, Long.MAX_VALUE, log))
                        .hasSizeGreaterThan(100)
                        .anyMatch(entry -> entry.input() == 777);
                assertThat(Arena.gaveUp(report)).isEmpty();
            } finally {
                third.destroyForcibly();
            }
        }
    }

    /**
     * Thirty agents slept the same time and came back in the same instant, to be refused again
     * (NousResearch/hermes-agent#109234). 300 calls of three processes wait here for the same end of a hold.
     */
    @Test
    void threeHundredWhoWaitForTheSameInstantComeBackAsTheBudgetAllows() throws Exception {
        Policy policy = Policy.parse("""
                project: silence
                provider: anthropic
                classes: [{name: sonnet, models: ["claude-sonnet-*"], limits: {rpm: 120, concurrency: 4}}]
                """);
        String profile = """
                sizes: [{name: one, share: 1, input: 100, output: 20, max_output: 40, duration_ms: 400}]
                """;
        try (Arena arena = new Arena(EmulatorOptions.of("anthropic", Limits.parse("rpm=120,concurrency=4")))) {
            CompletableFuture<FleetReport> fleet = arena.start(policy, profile, 3, 100, 13);
            long refusedMs = arena.refuseOnce("\"status\": 429, \"retry-after\": \"5s\"");
            FleetReport report = Arena.end(fleet);

            List<LogEntry> log = arena.log();
            assertThat(report.tried()).isGreaterThanOrEqualTo(300);
            assertThat(Arena.callsBetween(refusedMs + 1_000, refusedMs + 5_000, log))
                    .isEmpty();
            assertThat(Arena.only("rejected", log)).hasSizeLessThanOrEqualTo(4);
            List<LogEntry> back = Arena.only("accepted", log);
            assertThat(back).hasSizeGreaterThan(8);
            // 120 a minute at 0.9 and a burst of 5 s: 9 at once, 1.8 a second.
            for (LogEntry one : back) {
                assertThat(Arena.callsBetween(one.tMs() - 1, one.tMs() + 1_000, log))
                        .hasSizeLessThanOrEqualTo(10);
            }
            assertThat(log).allMatch(entry -> entry.inFlight() <= 4);
        }
    }

    private static AgentConfig config(Arena arena, Policy policy, String profile) {
        Profile parsed = ProfileFile.parse("profile", profile);
        return new AgentConfig(
                2,
                3,
                5,
                "late",
                Strategy.SLUICE,
                arena.redis.uri(),
                null,
                policy.project(),
                PolicyNumbers.of(policy.toJson(), parsed.model()),
                arena.provider(),
                Wire.ANTHROPIC,
                parsed,
                1,
                1_000);
    }

    private static void say(Process process, String line) throws Exception {
        process.getOutputStream().write((line + "\n").getBytes(UTF_8));
        process.getOutputStream().flush();
    }
}
