package io.sluice.redis;

import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.perMinute;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Law 10, the long form: what is left of a clock that ran ahead and was set back by more than a second. */
@WithRedis
class ClockIT {
    private static final long HOUR = 3600 * S;

    private final RedisServer server;
    private Scripted scripts;

    ClockIT(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void connect() {
        scripts = new Scripted(server);
    }

    @AfterEach
    void close() {
        scripts.close();
    }

    private List<Object> ask(long at, String id, long input) {
        return scripts.acquire(at, id, costs(Map.of("itpm", input)));
    }

    /** Nothing was granted, so nothing was written, and each try found the clock set back anew: no refill for an hour. */
    @Test
    void anEmptyBucketRefillsAfterALargeStepBack() {
        scripts.install(T0, modelClass(-1, whole("itpm", 60_000)));
        assertThat(ask(T0 + HOUR, "a", 60_000)).startsWith("granted");
        assertThat(ask(T0, "b", 1_000)).startsWith("wait", S, S);
        assertThat(ask(T0 + S - 1, "b", 1_000)).startsWith("wait", 1L, 1L);
        assertThat(ask(T0 + S, "b", 1_000)).startsWith("granted");
        assertThat(scripts.redis.hget(scripts.keys.all()[1], "#clock_steps"))
                .as("one step, counted once")
                .isEqualTo("1");
    }

    /** A beat sees only the project; its classes are set back by the next call that wants them. */
    @Test
    void anEmptyBucketRefillsAlsoIfAHostsBeatSawTheStepFirst() {
        scripts.install(T0, modelClass(-1, whole("itpm", 60_000)));
        assertThat(ask(T0 + HOUR, "a", 60_000)).startsWith("granted");
        scripts.beat(T0, "h");
        assertThat(ask(T0, "b", 1_000)).startsWith("wait", S, S);
        assertThat(ask(T0 + S, "b", 1_000)).startsWith("granted");
    }

    /** What was admitted in a future that did not come shares a slot of the gate with what is admitted now. */
    @Test
    void aPermitCorrectsTheGateOnceAlsoAfterAStepBack() {
        scripts.install(T0, modelClass(-1, perMinute("itpm", 60_000)));
        long width = 5 * S;
        assertThat(ask(T0 + HOUR, "ahead", 4_000)).startsWith("granted");
        assertThat(ask(T0 + HOUR + width, "ahead too", 500)).startsWith("granted");
        assertThat(ask(T0, "back", 0)).startsWith("granted");
        assertThat(ask(T0 + width, "a", 1_000)).startsWith("granted");
        assertThat(ask(T0 + 2 * width, "b", 0)).startsWith("granted");
        long before = scripts.level(T0 + 2 * width, "c:m", "itpm").admitted();
        scripts.settle(T0 + 2 * width, "a", "cancelled", Map.of());
        assertThat(scripts.level(T0 + 2 * width, "c:m", "itpm").admitted()).isEqualTo(before - 1_000);
    }

    /** Its lease was to end in an hour that comes once more. */
    @Test
    void aSlotOfADeadAgentIsFreeOneLeaseAfterAStepBack() {
        scripts.install(T0, modelClass(1, whole("itpm", 60_000)));
        assertThat(ask(T0 + HOUR, "dead", 0)).startsWith("granted");
        scripts.beat(T0, "h");
        assertThat(ask(T0 + 29 * S, "next", 0)).as("it may be alive").startsWith("wait");
        assertThat(ask(T0 + 30 * S + 1, "next", 0)).startsWith("granted");
    }

    @Test
    void soItIsIfAPolicyIsTheFirstToSeeTheStep() {
        scripts.install(T0, modelClass(1, whole("itpm", 60_000)));
        assertThat(ask(T0 + HOUR, "dead", 0)).startsWith("granted");
        scripts.install(T0, modelClass(1, whole("itpm", 50_000)));
        scripts.beat(T0 + S, "h");
        assertThat(ask(T0 + 31 * S + 1, "next", 0)).startsWith("granted");
    }

    /** Work is bounded: a part at a time, and whoever beats is told that more is left. */
    @Test
    void aThousandLeasesAreSetBackAPartAtATime() {
        int many = 1_000;
        scripts.install(T0, modelClass(many, whole("itpm", 60_000)));
        for (int i = 0; i < many; i++) {
            assertThat(ask(T0 + HOUR + i, "dead-" + i, 0)).startsWith("granted");
        }
        int beats = 1;
        while (scripts.beat(T0, "h").more()) {
            beats++;
        }
        assertThat(beats).isBetween(many / 32, 2 * many / 32 + 2);
        beats = 1;
        while (scripts.beat(T0 + 31 * S, "h").more()) {
            beats++;
        }
        assertThat(beats).isBetween(many / 32, many / 32 + 2);
        assertThat(scripts.inspect(T0 + 31 * S).get("c:m").used()).isZero();
    }

    /** A host that renews goes on as before: what is its own is not taken from it for a clock. */
    @Test
    void aLeaseThatIsRenewedAfterAStepBackStays() {
        scripts.install(T0, modelClass(1, whole("itpm", 60_000)));
        assertThat(ask(T0 + HOUR, "alive", 0)).startsWith("granted");
        for (int second = 0; second <= 60; second += 10) {
            scripts.beat(T0 + second * S, "h", "alive");
        }
        assertThat(ask(T0 + 65 * S, "next", 0)).startsWith("wait");
    }

    /** Nobody claims it: it is undone half a second later by the new time, and the next in line starts. */
    @Test
    void aGrantThatNobodyClaimedIsUndoneAfterAStepBack() {
        scripts.install(T0, modelClass(1, whole("itpm", 60_000)));
        assertThat(ask(T0 + HOUR, "first", 0)).startsWith("granted");
        assertThat(scripts.acquire(
                        T0 + HOUR,
                        Scripted.Ask.of("gone", costs(Map.of("itpm", 0L)))
                                .host("dead")
                                .waiting(HOUR)))
                .startsWith("waiting");
        scripts.settle(T0 + HOUR, "first", "settled", Map.of());
        scripts.beat(T0, "h");
        assertThat(ask(T0 + S, "next", 0)).startsWith("granted");
    }

    @Test
    void anIdThatEndedAheadIsForgottenTenMinutesAfterTheStepBack() {
        scripts.install(T0, modelClass(-1, whole("itpm", 60_000)));
        assertThat(ask(T0 + HOUR, "a", 0)).startsWith("granted");
        scripts.settle(T0 + HOUR, "a", "settled", Map.of());
        scripts.beat(T0, "h");
        assertThat(ask(T0 + 599 * S, "a", 0)).startsWith("ended");
        assertThat(ask(T0 + 610 * S, "a", 0)).startsWith("granted");
    }

    /** Shares without Redis go by how many hosts beat in the last minute. */
    @Test
    void aHostThatBeatAheadCountsForAMinuteAfterTheStepBack() {
        scripts.install(T0, modelClass(-1, whole("itpm", 60_000)));
        assertThat(ask(T0 + HOUR, "a", 0)).startsWith("granted");
        scripts.beat(T0 + HOUR, "dead");
        assertThat(scripts.beat(T0, "h").hosts()).isEqualTo(2);
        assertThat(scripts.beat(T0 + 61 * S, "h").hosts()).isEqualTo(1);
    }
}
