package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.Locale;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@WithRedis
class MetersIT {
    private final RedisServer redis;
    private final String id = "m-" + UUID.randomUUID();

    MetersIT(RedisServer redis) {
        this.redis = redis;
    }

    @Test
    void theClientCountsUnderTheNamesOfTheServer() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        try (Sluice sluice = Sluice.connect(redis.uri(), Sluice.Options.DEFAULT.withMeters(meters))) {
            sluice.install(Faults.policy(id, 1));
            Project project = sluice.project(id);
            Permit permit = ((Decision.Granted) project.tryAcquire(Faults.CALL.team("nobody-listed"))).permit();
            project.tryAcquire(Faults.CALL);
            project.tryAcquire(Call.of("gpt-5"));
            assertThat(meters.get("sluice.in.flight").tag("project", id).gauge().value())
                    .isEqualTo(1);
            permit.settle(new Usage(7L, 0L, 0L, null));
            assertThat(permits(meters, "sonnet", "granted")).isEqualTo(1);
            assertThat(permits(meters, "sonnet", "settled")).isEqualTo(1);
            assertThat(permits(meters, "sonnet", "refused")).isEqualTo(1);
            assertThat(permits(meters, "unknown", "refused"))
                    .as("no model name from outside in a label")
                    .isEqualTo(1);
            assertThat(meters.get("sluice.wait").tag("team", "other").timer().count())
                    .isEqualTo(1);
            assertThat(meters.get("sluice.tokens")
                            .tag("type", "input")
                            .counter()
                            .count())
                    .isEqualTo(7);
            assertThat(meters.get("sluice.usage.missing").counter().count()).isEqualTo(1);
            assertThat(meters.get("sluice.script")
                            .tag("script", "acquire")
                            .timer()
                            .count())
                    .isEqualTo(2);
        }
    }

    private double permits(SimpleMeterRegistry meters, String modelClass, String outcome) {
        return meters.get("sluice.permits")
                .tags("project", id, "class", modelClass, "outcome", outcome)
                .counter()
                .count();
    }

    /** Numbers in the application's locale broke a script: redisson/redisson#2627. */
    @ParameterizedTest
    @ValueSource(strings = {"de-DE", "ar-EG", "tr-TR"})
    void theApplicationsLocaleChangesNothing(String locale) {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag(locale));
        try (Sluice sluice = Sluice.connect(redis.uri())) {
            sluice.install(Faults.policy(id, 1));
            Decision decision = sluice.project(id).tryAcquire(Faults.CALL.inputTokens(1_234_567));
            assertThat(((Decision.Granted) decision)
                            .permit()
                            .settle(new Usage(1_000_000, 0, 0, 1))
                            .charged()
                            .input())
                    .isEqualTo(1_000_000);
        } finally {
            Locale.setDefault(before);
        }
    }
}
