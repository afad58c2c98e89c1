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
class DailyIT {
    /** A day of 40 requests is used up; nobody asks again before the provider's next one begins. */
    @Test
    void aDayThatIsUsedUpIsWaitedFor() throws Exception {
        Policy policy = Policy.parse("""
                project: day
                provider: openrouter
                classes: [{name: free, models: ["*"], limits: {rpm: 300, concurrency: 3}}]
                """);
        String profile = """
                model: some/model:free
                think_ms: 20
                sizes: [{name: one, share: 1, input: 100, output: 20, max_output: 40, duration_ms: 50}]
                """;
        try (Arena arena = new Arena(EmulatorOptions.of("openrouter", Limits.parse("rpd=40")))) {
            CompletableFuture<FleetReport> fleet = arena.start(policy, profile, 2, 5, 13);
            arena.logOnce(log -> !Arena.only("accepted", log).isEmpty());
            long newDayMs = arena.nowMs() + 10_000;
            arena.behave("{\"new-day-in\": \"10s\"}");
            List<LogEntry> usedUp =
                    arena.logOnce(log -> !Arena.only("rejected", log).isEmpty());
            long refusedMs = Arena.only("rejected", usedUp).get(0).tMs();
            FleetReport report = Arena.end(fleet);

            assertThat(report.rejections()).containsOnlyKeys("daily");
            assertThat(report.rejected()).isLessThanOrEqualTo(3);
            assertThat(Arena.callsBetween(refusedMs + 1_000, newDayMs, arena.log()))
                    .isEmpty();
            assertThat(Arena.callsBetween(newDayMs, Long.MAX_VALUE, arena.log()))
                    .isNotEmpty();
            // Those in flight when the day ended; whoever stood in line was kept there.
            assertThat(Arena.gaveUp(report)).containsOnlyKeys("provider: daily");
            assertThat(report.givenUp()).isLessThanOrEqualTo(3);
        }
    }
}
