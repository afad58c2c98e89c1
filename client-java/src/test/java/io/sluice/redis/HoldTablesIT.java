package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.ScopeLimits;
import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Hold;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Holds, step by step: what a rejection of one call does to all others. */
@WithRedis
class HoldTablesIT {
    private static final Map<String, Map<String, Long>> ONE = costs(Map.of("rpm", 1L));
    private static final long SLOTS = 64;

    private final RedisServer server;
    private Scripted scripts;

    HoldTablesIT(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void connect() {
        scripts = new Scripted(server);
        scripts.install(T0, modelClass(SLOTS, whole("rpm", 60_000)));
    }

    @AfterEach
    void close() {
        scripts.close();
    }

    private List<Object> ask(long at, String id, long wait) {
        return scripts.acquire(at, Ask.of(id, ONE).waiting(wait));
    }

    private boolean starts(long at, String id) {
        return ask(at, id, 0).get(0).equals("granted");
    }

    private void serve(long at, String id) {
        assertThat(scripts.settle(at, id, "settled", ONE).get(1)).isEqualTo("settled");
    }

    private Hold hold() {
        return Objects.requireNonNull(scripts.holds().get(0));
    }

    @Test
    void closesTheScopeUntilItsEnd() {
        starts(T0, "a");
        assertThat(scripts.hold(T0 + S, "c:m", 20 * S, T0)).isEqualTo(20 * S);

        assertThat(ask(T0 + 2 * S, "b", 0)).containsExactly("hold", 19 * S, "c:m", "input", 1L, "429");
        assertThat(ask(T0 + 2 * S, "c", 18 * S)).startsWith("hold", 19 * S);
        assertThat(ask(T0 + 2 * S, "d", 30 * S)).startsWith("waiting", 19 * S, 19 * S, "c:m", "hold", 1L);
        assertThat(scripts.beat(T0 + 20 * S, "h").told("g")).isEmpty();
        assertThat(scripts.beat(T0 + 21 * S - 1, "h").told("g")).isEmpty();
        assertThat(scripts.beat(T0 + 21 * S, "h").told("g")).containsExactly("d");
    }

    @Test
    void saysWhenItEnds() {
        scripts.hold(T0, "c:m", 20 * S, 1);
        assertThat(scripts.beat(T0 + S, "h").next()).isEqualTo(19 * S);
        assertThat(scripts.beat(T0 + S, "h").reply().get(10))
                .isEqualTo(List.of(List.of("c:m", 19 * S, "input", 1L, "429")));
    }

    @Test
    void otherClassesGoOn() {
        scripts.install(
                T0,
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:m", SLOTS, List.of(whole("rpm", 60_000))),
                new ScopeLimits("c:o", SLOTS, List.of(whole("rpm", 60_000))));
        scripts.hold(T0, "c:m", 20 * S, 1);
        ask(T0, "a", MIN);
        Map<String, Map<String, Long>> other = Map.of("p", Map.of(), "c:o", Map.of("rpm", 1L));
        assertThat(scripts.acquire(T0, Ask.of("b", other))).startsWith("granted");
        scripts.hold(T0, "p", 20 * S, 1);
        assertThat(scripts.acquire(T0, Ask.of("c", other))).startsWith("hold", 20 * S, "p");
    }

    @Test
    void opensWithOneCallThenTwiceAsManyOnEachSuccess() {
        scripts.hold(T0, "c:m", 10 * S, 1);
        long at = T0 + 10 * S;
        List<Long> inFlight = new ArrayList<>();
        int asked = 0;
        while (!scripts.holds().isEmpty()) {
            long running = 0;
            while (starts(at, "r" + asked)) {
                asked++;
                running++;
                if (running > SLOTS) {
                    break;
                }
            }
            inFlight.add(running);
            if (running == 0) {
                break;
            }
            at += S;
            serve(at, "r" + (asked - 1));
        }
        // One ended before each look, so one place more than doubled is free.
        assertThat(inFlight).containsExactly(1L, 2L, 3L, 5L, 9L, 17L);
        assertThat(starts(at, "free")).isTrue();
    }

    @Test
    void callsFromBeforeNeitherCountNorOpenIt() {
        for (int i = 0; i < 40; i++) {
            starts(T0, "old" + i);
        }
        scripts.hold(T0 + S, "c:m", 10 * S, T0);
        serve(T0 + 2 * S, "old0");
        assertThat(starts(T0 + 11 * S, "probe")).isTrue();
        assertThat(starts(T0 + 11 * S, "next")).isFalse();
        serve(T0 + 12 * S, "old1");
        assertThat(starts(T0 + 12 * S, "next")).isFalse();
        assertThat(hold()).extracting(Hold::most, Hold::used).containsExactly(1L, 1L);
        serve(T0 + 12 * S, "probe");
        assertThat(hold()).extracting(Hold::most, Hold::used).containsExactly(2L, 0L);
    }

    @Test
    void rejectionsOfTheSameEventOnlyMakeItLonger() {
        starts(T0, "a");
        starts(T0, "b");
        starts(T0, "c");
        scripts.hold(T0 + S, "c:m", 10 * S, T0);
        scripts.hold(T0 + S, "c:m", 5 * S, T0);
        assertThat(hold().until()).isEqualTo(T0 + 11 * S);
        scripts.hold(T0 + 2 * S, "c:m", 20 * S, T0);
        assertThat(hold()).extracting(Hold::until, Hold::failures).containsExactly(T0 + 22 * S, 0L);
    }

    @Test
    void aRejectedProbeClosesItAgain() {
        scripts.hold(T0, "c:m", 10 * S, 1);
        starts(T0 + 10 * S, "probe");
        scripts.hold(T0 + 11 * S, "c:m", 10 * S, T0 + 10 * S);
        scripts.settle(T0 + 11 * S, "probe", "throttled", ONE);
        assertThat(starts(T0 + 12 * S, "b")).isFalse();
        assertThat(starts(T0 + 21 * S, "c")).isTrue();
        assertThat(starts(T0 + 21 * S, "d")).isFalse();
    }

    @Test
    void unstatedWaitsDoubleOncePerEventUpToAMinute() {
        long at = T0;
        List<Long> waits = new ArrayList<>();
        long granted = 1;
        for (int k = 0; k < 8; k++) {
            scripts.hold(at, "c:m", -2, granted);
            scripts.hold(at, "c:m", -2, granted);
            waits.add((hold().until() - at) / S);
            at = hold().until();
            starts(at, "probe" + k);
            granted = at;
            at += 1;
            scripts.settle(at, "probe" + k, "throttled", ONE);
        }
        assertThat(waits).containsExactly(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L);
    }

    @Test
    void isClamped() {
        scripts.hold(T0, "c:m", 1_000_000 * S, 1);
        assertThat(hold().until()).isEqualTo(T0 + 60 * MIN);
    }

    @Test
    void withoutAnEndItWaitsForItsRelease() {
        scripts.observe(T0, List.of("hold", "p", -1, -1, "credits", 0, 1, "no money left"));
        assertThat(ask(T0, "a", 60 * MIN)).containsExactly("hold", -1L, "p", "credits", 0L, "no money left");
        assertThat(scripts.beat(T0 + 600 * MIN, "h").next()).isEqualTo(-1);
        assertThat(ask(T0 + 600 * MIN, "b", 0)).startsWith("hold", -1L);
        scripts.observe(T0 + 601 * MIN, List.of("release", "p"));
        assertThat(starts(T0 + 601 * MIN, "c")).isTrue();
        assertThat(starts(T0 + 601 * MIN, "d")).isFalse();
    }

    @Test
    void anOperatorsIsOverAtOnce() {
        scripts.observe(T0, List.of("hold", "c:m", -1, -1, "operator", 1, 0, "maintenance"));
        assertThat(starts(T0, "a")).isFalse();
        ask(T0, "b", 10);
        scripts.observe(T0 + S, List.of("release", "*"));
        assertThat(scripts.holds()).isEmpty();
        assertThat(starts(T0 + S, "c")).isTrue();
        assertThat(starts(T0 + S, "d")).isTrue();
    }

    @Test
    void isForgottenTenMinutesAfterItOpened() {
        scripts.hold(T0, "c:m", 10 * S, 1);
        scripts.beat(T0 + 10 * S, "h");
        assertThat(hold().opened()).isEqualTo(T0 + 10 * S);
        scripts.beat(T0 + 10 * S + 10 * MIN, "h");
        assertThat(scripts.holds()).isEmpty();
    }

    @Test
    void tooManyInFlightLowersTheCapAndGrowsItBackByOne() {
        for (int i = 0; i < 8; i++) {
            starts(T0, "old" + i);
        }
        scripts.hold(T0, "c:m", 2 * S, "concurrency", T0);
        scripts.settle(T0, "old0", "throttled", ONE);
        assertThat(starts(T0 + 2 * S, "a")).isFalse();
        assertThat(hold().most()).isEqualTo(6);
        serve(T0 + 3 * S, "old1");
        assertThat(starts(T0 + 3 * S, "b")).isFalse();
        serve(T0 + 3 * S, "old2");
        assertThat(starts(T0 + 3 * S, "b")).isTrue();
        for (int k = 0; k < 6; k++) {
            starts(T0 + 4 * S, "more" + k);
        }
        long most = hold().most();
        long at = T0 + 5 * S;
        for (int k = 0; k < 12; k++) {
            starts(at, "c" + k);
            scripts.permits().stream()
                    .filter(permit -> permit.inFlight() && !permit.id().startsWith("old"))
                    .findFirst()
                    .ifPresent(permit -> serve(at, permit.id()));
        }
        assertThat(hold().most()).isBetween(most + 1, most + 2);
    }

    /** 12 run where the provider takes 8: it refuses four, and says nothing of when. */
    @Test
    void tooManyInFlightForAnUnknownTimeLeavesThoseThatRun() {
        for (int i = 0; i < 12; i++) {
            starts(T0, "old" + i);
        }
        for (int i = 0; i < 4; i++) {
            scripts.hold(T0 + 1, "c:m", -2, "concurrency", T0);
            scripts.settle(T0 + 1, "old" + i, "throttled", ONE);
        }
        assertThat(hold()).extracting(Hold::most, Hold::used).containsExactly(8L, 8L);
        assertThat(starts(T0 + 2, "a")).isFalse();
        serve(T0 + 2, "old4");
        assertThat(starts(T0 + 2, "a")).isTrue();
        assertThat(starts(T0 + 2, "b")).isFalse();
    }

    @Test
    void oneMoreIsTriedAndTwiceAsLateAfterATryThatFailed() {
        for (int i = 0; i < 4; i++) {
            starts(T0, "old" + i);
        }
        scripts.hold(T0 + 1, "c:m", -2, "concurrency", T0);
        scripts.settle(T0 + 1, "old0", "throttled", ONE);
        serve(T0 + 1, "old1");
        serve(T0 + 1, "old2");
        serve(T0 + 1, "old3");
        assertThat(servedUntilMoreMayRun(T0 + 2)).isEqualTo(3);
        assertThat(hold().most()).isEqualTo(4);

        for (int k = 1; k <= 3; k++) {
            long at = T0 + k * S;
            for (int i = 0; i < 4; i++) {
                starts(at, "try" + k + i);
            }
            scripts.hold(at + 1, "c:m", -2, "concurrency", at);
            scripts.settle(at + 1, "try" + k + "0", "throttled", ONE);
            for (int i = 1; i < 4; i++) {
                serve(at + 1, "try" + k + i);
            }
            assertThat(hold().most()).isEqualTo(3);
            assertThat(servedUntilMoreMayRun(at + 2)).isEqualTo(3L << k);
        }
    }

    private long servedUntilMoreMayRun(long at) {
        long most = hold().most();
        long served = 0;
        while (hold().most() == most) {
            starts(at, "served" + at + "-" + served);
            serve(at, "served" + at + "-" + served);
            served++;
        }
        return served;
    }

    @Test
    void whereNotEvenOneMayRunItCloses() {
        starts(T0, "only");
        scripts.hold(T0 + 1, "c:m", -2, "concurrency", T0);
        scripts.settle(T0 + 1, "only", "throttled", ONE);
        assertThat(starts(T0 + 2, "a")).isFalse();
        assertThat(starts(T0 + 1 + S, "a")).isTrue();
        assertThat(starts(T0 + 1 + S, "b")).isFalse();
        scripts.hold(T0 + 2 * S, "c:m", -2, "concurrency", T0 + 1 + S);
        scripts.settle(T0 + 2 * S, "a", "throttled", ONE);
        assertThat(starts(T0 + 4 * S - 1, "b")).isFalse();
        assertThat(starts(T0 + 4 * S, "b")).isTrue();
    }

    @Test
    void keepsPlacesInLine() {
        scripts.install(T0, modelClass(1, whole("rpm", 60_000)));
        starts(T0, "running");
        ask(T0, "first", 60 * MIN);
        ask(T0 + 1, "second", 60 * MIN);
        scripts.hold(T0 + S, "c:m", 20 * S, T0);
        scripts.settle(T0 + S, "running", "throttled", ONE);
        for (long at = T0 + S; at < T0 + 21 * S; at += S / 4) {
            assertThat(scripts.beat(at, "h").told("g")).isEmpty();
        }
        assertThat(scripts.claim(T0 + 21 * S, "h").told("g")).containsExactly("first");
    }

    @Test
    void goesWithItsScope() {
        scripts.hold(T0, "c:m", 10 * S, 1);
        scripts.install(T0 + 2 * MIN, new ScopeLimits("p", -1, List.of()), new ScopeLimits("c:o", 1, List.of()));
        assertThat(scripts.holds()).isEmpty();
    }

    /** With Redis's clock an hour back a hold of 20 s lasted an hour, and one that was opening let nobody in for as long. */
    @Test
    void aClockSetBackMakesNoHoldLonger() {
        long back = 60 * MIN;
        scripts.hold(T0, "c:m", 20 * S, 0);
        scripts.beat(T0 + S - back, "h");
        assertThat(starts(T0 + 20 * S - back, "a")).isFalse();
        long at = T0 + 21 * S - back;
        for (int i = 0; i < 4; i++) {
            assertThat(starts(at, "b" + i)).as("%s", i).isTrue();
            assertThat(starts(at, "c" + i)).as("%s", i).isFalse();
            at -= back;
            scripts.settle(at, "b" + i, "throttled", ONE);
        }
    }

    /** A call that started before its hold opened, by a clock that was set back half a second, never counted as ended. */
    @Test
    void timeStandsStillAtWhatAHoldSaw() {
        scripts.hold(T0, "c:m", 20 * S, 0);
        scripts.beat(T0 + 20 * S, "h");
        assertThat(starts(T0 + 20 * S - S / 2, "a")).isTrue();
        scripts.settle(T0 + 21 * S, "a", "throttled", ONE);
        assertThat(hold().used()).isZero();
    }

    /** A name with a space was two names in the list of holds, and nothing ever ended either. */
    @Test
    void whatIsNoNameIsNoScope() {
        scripts.install(
                T0,
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:m", SLOTS, List.of(whole("rpm", 60_000))),
                new ScopeLimits("a:", 4, 100, List.of()));
        assertThat(scripts.hold(T0, "a:x y", S, 0)).isEqualTo(0L);
        assertThat(scripts.hold(T0, "a:x", S, 0)).isEqualTo(S);
        assertThat(scripts.holds()).extracting(Hold::scope).containsExactly("a:x");
    }

    @Test
    void oneWithoutItsRecordIsNone() {
        scripts.hold(T0, "c:m", 20 * S, 0);
        String levels = scripts.keys.all()[1];
        scripts.redis.hdel(levels, ">c:m");
        assertThat(starts(T0 + S, "a")).isTrue();
        assertThat(scripts.redis.hget(levels, "!holds")).isEmpty();
        assertThat(scripts.redis.hget(levels, "!due")).as("calm again").isNotEqualTo("0");
    }

    @Test
    void whatIsNoObservationIsRefusedAsAWhole() {
        for (List<Object> bad : List.<List<Object>>of(
                List.of("hold", "c:m", -3, 1, "input", 1, 0, ""),
                List.of("hold", "c:m", 1, 1, "input", 2, 0, ""),
                List.of("hold", "c:m", 1, 1, "input", 1),
                List.of("left", "c:m", "rpm", 1, 0, 0, 0, 0, 0, 0),
                List.of("nonsense"))) {
            org.assertj.core.api.Assertions.assertThatThrownBy(
                            () -> scripts.observe(T0, List.of("hold", "c:m", S, S, "input", 1, 0, ""), bad))
                    .as("%s", bad)
                    .hasMessageContaining("BADARG");
        }
        assertThat(scripts.holds()).isEmpty();
    }
}
