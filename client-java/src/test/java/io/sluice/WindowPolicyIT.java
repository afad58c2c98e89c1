package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Limits by windows, from a policy's words to a refusal's. */
@WithRedis
class WindowPolicyIT {
    private final RedisServer redis;

    WindowPolicyIT(RedisServer redis) {
        this.redis = redis;
    }

    /** In a zone whose midnight is some hours away, whenever this runs. */
    @Test
    void aSpentDayIsRefusedUntilItsMidnight() {
        boolean isMorning = ZonedDateTime.now(ZoneOffset.UTC).getHour() < 12;
        ZoneId zone = ZoneId.of(isMorning ? "UTC" : "America/Los_Angeles");
        String id = "w-" + UUID.randomUUID();
        try (Sluice sluice = Sluice.connect(redis.uri())) {
            sluice.install(Policy.parse("""
                    project: %s
                    provider: gemini
                    classes: [{name: flash, models: ["gemini-*"], limits: {rpd: {amount: 2, zone: %s}}}]
                    each: [{by: agent, limits: {spend: {amount: 100, per: 10m, window: rolling, of: tokens}}}]
                    """.formatted(id, zone)));
            Project project = sluice.project(id);
            Call call = Call.of("gemini-3-flash")
                    .inputTokens(30)
                    .maxOutputTokens(30)
                    .agent("a");
            Permit first = Budget.take(project, call);

            Refusal spent = Budget.refusal(project, call);
            assertThat(spent.kind()).isEqualTo(Refusal.Kind.WAIT);
            assertThat(spent.scope() + " " + spent.limit()).isEqualTo("a:a spend");
            assertThat(spent.retryAfter()).isBetween(Duration.ofMinutes(9), Duration.ofSeconds(610));

            first.settle(new Usage(30, 0, 0, 5));
            Budget.take(project, call).settle(new Usage(30, 0, 0, 5));
            Refusal day = Budget.refusal(project, call.agent("b"));
            ZonedDateTime now = ZonedDateTime.now(zone);
            Duration left = Duration.between(now, now.toLocalDate().plusDays(1).atStartOfDay(now.getZone()));
            assertThat(day.scope() + " " + day.limit()).isEqualTo("c:flash rpd");
            assertThat(day.retryAfter()).isBetween(left.minusSeconds(5), left.plusSeconds(5));
            assertThat(Budget.refusal(project, call.inputTokens(101)).kind()).isEqualTo(Refusal.Kind.NEVER);
        }
    }
}
