package io.sluice.testbed.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The replies of {@code inspect}, as the script's header has them. */
class StandingTest {
    private static final List<Object> LEVELS = List.of(
            "levels",
            "3:e1",
            90_000_000L,
            0L,
            3L,
            20L,
            2L,
            List.of("dropped", 2L, "unknown", 1L),
            List.of(
                    List.of("c:sonnet", 16L, 5L, 89_000_000L, List.of(List.of("rpm", 1L, 100L, 200L, 10L, 1L, 0L, 0L))),
                    List.of(
                            "p",
                            0L,
                            7L,
                            89_000_000L,
                            List.of(
                                    List.of("requests", 1L, 999_000L, 1_000_000L, 10L, 0L, 0L, 1L),
                                    List.of("tokens", 1L, 500L, 2_000L, 1L, 0L, 0L, 1L)))));

    @Test
    void itIsTheClassThatHasTheSlotsAndTheProjectThatHasTheBooks() {
        Standing standing = Standing.of(LEVELS, List.of());

        assertThat(standing).isEqualTo(new Standing(5, 0, 0, 100, 1_500, Map.of("dropped", 2L, "unknown", 1L)));
    }

    /** A place that is kept for a call that gave up is nobody's wait. */
    @Test
    void theOldestIsTheOneThatWaitsLongest() {
        Standing standing = Standing.of(
                LEVELS, List.of(waiter("waiting", 88_000_000L), waiter("again", 87_500_000L), waiter("place", 1L)));

        assertThat(standing.waiters()).isEqualTo(2);
        assertThat(standing.oldestMs()).isEqualTo(2_500);
    }

    private static List<Object> waiter(String state, long sinceUs) {
        return List.of("id", state, "host", "sonnet", "other|n", "a", 1L, sinceUs, 99_000_000L, List.of("p"));
    }
}
