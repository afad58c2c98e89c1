package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class BreakerTest {
    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000); // nanoTime may wrap
    private final Breaker breaker = new Breaker(now::get);

    @Test
    void opensAtTheFifthFailureInARowAndSaysSoOnce() {
        for (int i = 0; i < 4; i++) {
            assertThat(breaker.failed(now.get())).isFalse();
        }
        assertThat(breaker.allows()).isTrue();
        assertThat(breaker.failed(now.get())).isTrue();
        assertThat(breaker.allows()).isFalse();
        assertThat(breaker.failed(now.get())).isFalse();
    }

    @Test
    void oneSlowReplyNowAndThenDoesNotOpenIt() {
        for (int i = 0; i < 100; i++) {
            assertThat(breaker.failed(now.get())).isFalse();
            breaker.succeeded();
            breaker.succeeded();
        }
        assertThat(breaker.isOpen()).isFalse();
    }

    /** Two hundred threads that were caught in one pause of Redis, or of this process, tell of one. */
    @Test
    void oneStallThatHitManyDoesNotOpenIt() {
        long begun = now.get();
        pass(Duration.ofMillis(250));
        for (int i = 0; i < 200; i++) {
            assertThat(breaker.failed(begun)).isFalse();
            pass(Duration.ofNanos(10_000));
        }
        for (int i = 0; i < 3; i++) {
            begun = now.get();
            pass(Duration.ofMillis(250));
            assertThat(breaker.failed(begun)).isFalse();
            assertThat(breaker.failed(begun)).isFalse();
        }
        begun = now.get();
        pass(Duration.ofMillis(250));
        assertThat(breaker.failed(begun)).as("the fifth in a row").isTrue();
    }

    @Test
    void opensWhenHalfOfTenFailWithinTwoSeconds() {
        for (int i = 0; i < 5; i++) {
            breaker.succeeded();
        }
        for (int i = 0; i < 4; i++) {
            assertThat(breaker.failed(now.get())).isFalse();
        }
        breaker.succeeded(); // 6 of 10 answered, and not five in a row
        assertThat(breaker.failed(now.get())).isFalse();
        assertThat(breaker.failed(now.get())).isTrue();
    }

    @Test
    void whatFailedLongAgoDoesNotCount() {
        for (int i = 0; i < 4; i++) {
            breaker.failed(now.get());
        }
        breaker.succeeded();
        pass(Duration.ofMillis(2_001));
        for (int i = 0; i < 8; i++) {
            breaker.succeeded();
        }
        assertThat(breaker.failed(now.get())).isFalse();
    }

    @Test
    void letsOneProbeThroughEachHalfSecondAndClosesAtTheFirstSuccess() {
        for (int i = 0; i < 5; i++) {
            breaker.failed(now.get());
        }
        pass(Duration.ofMillis(499));
        assertThat(breaker.allows()).isFalse();
        pass(Duration.ofMillis(1));
        assertThat(breaker.allows()).isTrue();
        assertThat(breaker.allows()).as("a second probe").isFalse();
        breaker.failed(now.get());
        pass(Duration.ofMillis(500));
        assertThat(breaker.allows()).isTrue();
        assertThat(breaker.succeeded()).isTrue();
        assertThat(breaker.succeeded()).isFalse();
        assertThat(breaker.allows()).isTrue();
    }

    /** What counted before it opened must not open it again at the first failure after it closed. */
    @Test
    void startsAfreshOnceClosed() {
        for (int i = 0; i < 20; i++) {
            breaker.failed(now.get());
        }
        breaker.succeeded();
        assertThat(breaker.failed(now.get())).isFalse();
    }

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }
}
