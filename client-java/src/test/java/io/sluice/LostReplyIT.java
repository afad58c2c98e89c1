package io.sluice;

import static io.sluice.Budget.CALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.sluice.redis.Levels;
import io.sluice.testbed.redis.Fault;
import io.sluice.testbed.redis.FaultyProxy;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The script ran and its answer never came (redis/lettuce#1426). Whoever asked does not have the permit, so nobody may
 * pay for it.
 */
@WithRedis
@Tag("contract")
@Timeout(60)
class LostReplyIT {
    private static final String LIMITS = "concurrency: 20, " + Budget.THOUSAND;

    private static final Fault REPLIES_LOST = new Fault.Hold(false, true);

    private final RedisServer redis;

    LostReplyIT(RedisServer redis) {
        this.redis = redis;
    }

    @Test
    void anAnswerCutOffByADisconnectLeavesNothing() {
        try (FaultyProxy wire = FaultyProxy.to(redis);
                Budget budget = Budget.of(wire.uri(), LIMITS)) {
            wire.set(REPLIES_LOST);
            List<CompletableFuture<Decision>> asked = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                asked.add(budget.project.tryAcquireAsync(CALL).toCompletableFuture());
            }
            await().pollInterval(Duration.ofMillis(5)).until(() -> held(budget).used() == 3);
            wire.cut();
            wire.heal();

            for (CompletableFuture<Decision> one : asked) {
                assertThat(one)
                        .failsWithin(Duration.ofSeconds(5))
                        .withThrowableThat()
                        .withCauseInstanceOf(OutageException.class);
            }
            nothingIsHeld(budget);
        }
    }

    /** A grant that was undone never was: its id answered "ended" for ten minutes to the caller who never had it. */
    @Test
    void anIdWhoseAnswerWasLostCanBeUsedAgain() {
        try (FaultyProxy wire = FaultyProxy.to(redis);
                Budget budget = Budget.of(wire.uri(), LIMITS)) {
            wire.set(REPLIES_LOST);
            OutageException thrown =
                    catchThrowableOfType(OutageException.class, () -> budget.project.tryAcquire(CALL.id("job-1")));
            assertThat(thrown.reason()).isEqualTo("timeout");
            nothingIsHeld(budget);
            wire.cut();
            wire.heal();

            Permit permit = await().atMost(Duration.ofSeconds(10))
                    .ignoreExceptionsInstanceOf(OutageException.class)
                    .until(() -> Budget.take(budget.project, CALL.id("job-1")), p -> true);

            assertThat(held(budget).used()).isEqualTo(1);
            assertThat(permit.settle(Usage.UNKNOWN).already()).isFalse();
            assertThat(held(budget).left()).containsEntry("calls", 999L);
        }
    }

    private void nothingIsHeld(Budget budget) {
        await().atMost(Duration.ofSeconds(5)).untilAsserted(() -> {
            assertThat(held(budget).used()).isZero();
            assertThat(held(budget).left()).containsEntry("calls", 1_000L);
        });
    }

    /** Past the wire. */
    private Levels held(Budget budget) {
        return Levels.of(redis.uri(), budget.id, "c:m");
    }
}
