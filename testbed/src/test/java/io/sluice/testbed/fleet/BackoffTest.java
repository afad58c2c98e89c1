package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BackoffTest {
    /** Rejections, Retry-After in s (-1: none), chance, pause in ms. */
    @ParameterizedTest
    @CsvSource({
        "1,  -1, 0,   500",
        "2,  -1, 0,   1000",
        "5,  -1, 0,   8000",
        "10, -1, 0,   8000",
        "1,  -1, 1,   375",
        "5,  -1, 0.5, 7000",
        "3,  7,  0.5, 7000",
        "3,  60, 0.5, 60000",
        "1,  61, 0,   500",
    })
    void doublesUpToEightSecondsUnlessTheProviderStatesAWait(
            int rejections, long retryAfterSeconds, double chance, long pauseMs) {
        Duration retryAfter = retryAfterSeconds < 0 ? null : Duration.ofSeconds(retryAfterSeconds);

        assertThat(Backoff.pause(rejections, retryAfter, () -> chance)).hasMillis(pauseMs);
    }
}
