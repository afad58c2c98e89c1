package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BreakerTest {
    private long now;
    private final Breaker breaker = new Breaker(() -> now);

    private void later(Duration by) {
        now += by.toNanos();
    }

    /** One blip opened a breaker and every caller paid for it: BerriAI/litellm#40620. */
    @Test
    void oneSlowReplyDoesNotOpenIt() {
        breaker.succeeded();
        assertThat(breaker.failed()).isFalse();
        assertThat(breaker.allows()).isTrue();
    }

    @Test
    void fiveFailuresInARowOpenItAndThatIsToldOnce() {
        for (int i = 0; i < 4; i++) {
            assertThat(breaker.failed()).isFalse();
        }
        assertThat(breaker.failed()).isTrue();
        assertThat(breaker.failed()).isFalse();
        assertThat(breaker.allows()).isFalse();
    }

    @Test
    void halfOfTwoSecondsOpensIt() {
        for (int i = 0; i < 5; i++) {
            breaker.succeeded();
            breaker.failed();
        }
        assertThat(breaker.isOpen()).isTrue();
    }

    @Test
    void oldFailuresAreForgotten() {
        for (int i = 0; i < 20; i++) {
            breaker.failed();
            breaker.succeeded();
            later(Duration.ofSeconds(3));
        }
        assertThat(breaker.isOpen()).isFalse();
    }

    @Test
    void oneProbeEveryHalfSecondAndTheFirstSuccessClosesIt() {
        for (int i = 0; i < 5; i++) {
            breaker.failed();
        }
        later(Duration.ofMillis(499));
        assertThat(breaker.allows()).isFalse();
        later(Duration.ofMillis(1));
        assertThat(breaker.allows()).isTrue();
        assertThat(breaker.allows()).isFalse();
        assertThat(breaker.succeeded()).isTrue();
        assertThat(breaker.allows()).isTrue();
    }
}
