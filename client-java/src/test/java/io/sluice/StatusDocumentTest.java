package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the server, the page and {@code ./sluice status} all read. */
class StatusDocumentTest {
    private static final Instant AT = Instant.parse("2026-11-30T08:00:00Z");

    @Test
    void aStatusIsOneLineOfJsonWithPlainNumbersAndTimesInMs() {
        Status status = new Status(
                7,
                "enforce",
                false,
                List.of(new Status.Limit("c:sonnet", "itpm", 2_000_000, -0.1234567, 166_666.7, 3, -1)),
                List.of(new Status.Said("sonnet", "rpm", null, 431L, Duration.ofMillis(1_500), AT)),
                List.of(new Status.Waiting(
                        "id-1", "a-1", "red", Priority.BATCH, "sonnet", "c:sonnet", "itpm", 2, 10, 20, "h-1")),
                1,
                List.of(new Status.Agent("a-1", "red", Status.State.WAITING, 10)),
                1,
                List.of(
                        new Status.Hold("p", "operator", null, true, AT, "deploy"),
                        new Status.Hold("c:sonnet", "input", Duration.ZERO, true, AT, "")),
                Map.of("input", 3L),
                2,
                Map.of("p", 3L));

        assertThat(status.toJson("acme", AT))
                .isEqualTo(
                        "{\"project\":\"acme\",\"at\":\"2026-11-30T08:00:00Z\",\"version\":7,\"mode\":\"enforce\",\"degraded\":false,"
                                + "\"limits\":[{\"scope\":\"c:sonnet\",\"limit\":\"itpm\",\"amount\":2000000,\"level\":-0.123457,"
                                + "\"capacity\":166666.7,\"in_flight\":3,\"reset_ms\":-1}],"
                                + "\"provider\":[{\"class\":\"sonnet\",\"limit\":\"rpm\",\"amount\":null,\"remaining\":431,"
                                + "\"reset_ms\":1500,\"seen_at\":\"2026-11-30T08:00:00Z\"}],"
                                + "\"waiting\":[{\"id\":\"id-1\",\"agent\":\"a-1\",\"team\":\"red\",\"priority\":\"batch\","
                                + "\"class\":\"sonnet\",\"scope\":\"c:sonnet\",\"limit\":\"itpm\",\"position\":2,\"waited_ms\":10,"
                                + "\"wait_ms\":20,\"host\":\"h-1\"}],\"waiters\":1,"
                                + "\"agents\":[{\"agent\":\"a-1\",\"team\":\"red\",\"state\":\"waiting\",\"since_ms\":10}],"
                                + "\"agents_in_all\":1,"
                                + "\"holds\":[{\"scope\":\"p\",\"kind\":\"operator\",\"left_ms\":null,\"retryable\":true,"
                                + "\"since\":\"2026-11-30T08:00:00Z\",\"reason\":\"deploy\"},"
                                + "{\"scope\":\"c:sonnet\",\"kind\":\"input\",\"left_ms\":0,\"retryable\":true,"
                                + "\"since\":\"2026-11-30T08:00:00Z\",\"reason\":\"\"}],"
                                + "\"rejections\":{\"input\":3},\"hosts\":2,\"in_flight\":{\"p\":3}}");
    }
}
