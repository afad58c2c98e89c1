package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.T0;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.RefillLimit;
import io.sluice.RefillLimit.Finds;
import io.sluice.ScopeLimits;
import io.sluice.Weights;
import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Level;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How much of its amounts a class may use: ramps, amounts that are stated or found, and what headers lower. */
@WithRedis
class ForceTablesIT {
    private static final long AMOUNT = 6_000;
    private static final long ALL = 1_000_000;

    private final RedisServer server;
    private Scripted scripts;
    private int calls;

    ForceTablesIT(RedisServer server) {
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

    /** Requests a minute, counted in slots of 5 s, in thousandths, with a bucket of 5 s. */
    private static RefillLimit measured(long amount, long startPpm, Finds finds) {
        return new RefillLimit(
                "rpm",
                amount * 1_000,
                60_000 * S,
                1,
                amount * 1_000 * 5 * S,
                amount,
                MIN,
                amount,
                amount,
                new Weights(1, 1, 0, 0, 0, 0),
                5 * S,
                0,
                startPpm,
                finds);
    }

    private void ramped(long from, long every) {
        scripts.install(
                T0,
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:m", -1, 0, from, every, List.of(measured(AMOUNT, ALL, Finds.NONE))));
    }

    private void finding(long startPpm, Finds finds) {
        scripts.install(T0, modelClass(-1, measured(AMOUNT, startPpm, finds)));
    }

    /** Takes all it can each half second, in parts of a hundredth of the amount; how much that was in whole units. */
    private long saturate(long from, long us, long most) {
        long taken = 0;
        for (long at = from; at < from + us && taken < most; at += S / 2) {
            long size = Math.max(1, AMOUNT / 200);
            while (taken < most) {
                String id = "f" + calls++;
                if (!scripts.acquire(at, Ask.of(id, costs(Map.of("rpm", size))))
                        .get(0)
                        .equals("granted")) {
                    if (size == 1) {
                        break;
                    }
                    size /= 2;
                    continue;
                }
                scripts.settle(at, id, "settled", costs(Map.of("rpm", size)));
                taken += size;
            }
        }
        return taken;
    }

    private Level level(long at) {
        return scripts.level(at, "c:m", "rpm");
    }

    @Test
    void aRampStartsLowAndAtMostDoublesEachPeriod() {
        ramped(ALL / 10, MIN);
        assertThat(level(T0).rate()).isEqualTo(AMOUNT * 100);
        List<Long> minutes = new ArrayList<>();
        for (int minute = 0; minute < 6; minute++) {
            minutes.add(saturate(T0 + minute * MIN, MIN, Long.MAX_VALUE));
        }
        for (int k = 1; k < minutes.size(); k++) {
            assertThat(minutes.get(k)).as("%s", minutes).isLessThanOrEqualTo(2 * minutes.get(k - 1) + 1);
        }
        assertThat(minutes.get(0)).isBetween(AMOUNT / 10, AMOUNT * 11 / 100);
        assertThat(minutes.get(2)).isGreaterThan(AMOUNT * 3 / 10);
        assertThat(minutes.get(5)).isGreaterThan(AMOUNT * 95 / 100);
    }

    /** Where the period is no longer than the bucket it must rise all the same. */
    @Test
    void aRampOfShortPeriodsRisesToo() {
        ramped(ALL / 10, 5 * S);
        List<Long> periods = new ArrayList<>();
        for (int k = 0; k < 8; k++) {
            periods.add(saturate(T0 + k * 5L * S, 5 * S, Long.MAX_VALUE));
        }
        for (int k = 1; k < periods.size(); k++) {
            assertThat(periods.get(k)).as("%s", periods).isLessThanOrEqualTo(2 * periods.get(k - 1) + 1);
        }
        assertThat(periods.get(7)).as("%s", periods).isGreaterThan(AMOUNT / 12 * 95 / 100);
    }

    @Test
    void whatIsNotUsedIsNotThereTheNextMinute() {
        ramped(ALL / 10, MIN);
        for (int minute = 0; minute < 5; minute++) {
            saturate(T0 + minute * MIN, MIN, Long.MAX_VALUE);
        }
        assertThat(level(T0 + 5 * MIN).rate()).isGreaterThan(AMOUNT * 900);
        saturate(T0 + 5 * MIN, MIN, AMOUNT / 5);
        scripts.beat(T0 + 6 * MIN, "h");
        assertThat(level(T0 + 6 * MIN).rate()).isBetween(AMOUNT * 300, AMOUNT * 450);
        scripts.beat(T0 + 9 * MIN, "h");
        assertThat(level(T0 + 9 * MIN).rate()).isEqualTo(AMOUNT * 100);
    }

    @Test
    void aRampDoesNotMakeACallImpossible() {
        ramped(ALL / 10, MIN);
        assertThat(scripts.acquire(T0, Ask.of("large", costs(Map.of("rpm", AMOUNT * 9 / 10)))))
                .startsWith("granted");
    }

    @Test
    void aNewPolicyKeepsWhereTheRampIs() {
        ramped(ALL / 10, MIN);
        saturate(T0, MIN, Long.MAX_VALUE);
        scripts.beat(T0 + MIN, "h");
        long rate = level(T0 + MIN).rate();
        assertThat(rate).isGreaterThan(AMOUNT * 150);
        scripts.install(
                T0 + MIN,
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:m", -1, 0, ALL / 10, MIN, List.of(measured(2 * AMOUNT, ALL, Finds.NONE))));
        assertThat(level(T0 + MIN).rate()).isBetween(2 * rate - 1, 2 * rate + 1);
        scripts.install(T0 + MIN, modelClass(-1, measured(AMOUNT, ALL, Finds.NONE)));
        assertThat(level(T0 + MIN).rate()).isEqualTo(AMOUNT * 1_000);
    }

    @Test
    void aRefusedRiseCapsTheRateAndLetsItGrowAgain() {
        scripts.install(T0, modelClass(-1, whole("rpm", AMOUNT)));
        long full = level(T0).rate();
        scripts.observe(T0, List.of("slow", "c:m", ALL / 4, ALL / 2, 30 * S, T0));
        assertThat(level(T0).rate()).isEqualTo(full / 4);
        scripts.beat(T0 + 30 * S, "h");
        assertThat(level(T0 + 30 * S).rate()).isEqualTo(full / 2);
        scripts.beat(T0 + 90 * S, "h");
        assertThat(level(T0 + 90 * S).rate()).isEqualTo(full);
        assertThat(scripts.rawLevels()).doesNotContainKey("/c:m");
        scripts.observe(T0 + 100 * S, List.of("slow", "c:m", 0, 0, 0, T0 + 99 * S));
        assertThat(level(T0 + 100 * S).rate()).isEqualTo(full / 2);
    }

    @Test
    void aClockSetBackKeepsNobodySlow() {
        scripts.install(T0, modelClass(-1, whole("rpm", AMOUNT)));
        long full = level(T0).rate();
        scripts.observe(T0, List.of("slow", "c:m", ALL / 4, 0, 0, T0));
        long back = 300 * MIN;
        scripts.beat(T0 - back, "h");
        scripts.beat(T0 - back + MIN, "h");
        scripts.beat(T0 - back + 2 * MIN, "h");
        assertThat(level(T0 - back + 2 * MIN).rate()).isEqualTo(full);
        scripts.observe(T0 - back + 3 * MIN, List.of("slow", "c:m", ALL / 4, 0, 0, T0 - back + 2 * MIN));
        assertThat(level(T0 - back + 3 * MIN).rate()).isEqualTo(full / 4);
    }

    /** Ten of twenty calls in flight are refused: once is half, not ten times. */
    @Test
    void callsOfOneRefusedRiseCountOnce() {
        scripts.install(T0, modelClass(-1, whole("rpm", AMOUNT)));
        long full = level(T0).rate();
        for (int i = 0; i < 10; i++) {
            scripts.observe(T0 + S + i, List.of("slow", "c:m", 0, 0, 0, T0 + i));
        }
        assertThat(level(T0 + 2 * S).rate()).isEqualTo(full / 2);
        scripts.observe(T0 + 3 * S, List.of("slow", "c:m", 0, 0, 0, T0 + 2 * S));
        assertThat(level(T0 + 3 * S).rate()).isEqualTo(full / 4);
    }

    @Test
    void anUnknownAmountGrowsWhileItIsUsedAndIsCutByRejections() {
        finding(ALL / 10, Finds.ADAPTIVE);
        assertThat(level(T0).rate()).isEqualTo(AMOUNT * 100);
        saturate(T0, 2 * MIN, Long.MAX_VALUE);
        scripts.beat(T0 + 2 * MIN, "h");
        long grown = level(T0 + 2 * MIN).rate();
        assertThat(grown).isBetween(AMOUNT * 170, AMOUNT * 230);
        scripts.observe(T0 + 2 * MIN, List.of("less", "c:m", "rpm", T0 + 2 * MIN - S));
        long cut = level(T0 + 2 * MIN).rate();
        assertThat(cut).isBetween(grown * 69 / 100, grown * 7 / 10 + 1);
        assertThat(scripts.observe(T0 + 2 * MIN + S, List.of("less", "c:m", "rpm", T0 + 2 * MIN - S)))
                .as("a rejection of the same event")
                .containsExactly(List.of(0L));
        saturate(T0 + 2 * MIN, 25 * S, Long.MAX_VALUE);
        assertThat(level(T0 + 2 * MIN + 25 * S).rate()).isEqualTo(cut);
        saturate(T0 + 2 * MIN + 25 * S, 30 * S, Long.MAX_VALUE);
        assertThat(level(T0 + 2 * MIN + 55 * S).rate()).isGreaterThan(cut);
        long idleFrom = T0 + 3 * MIN;
        scripts.beat(idleFrom, "h");
        long before = level(idleFrom).rate();
        scripts.beat(idleFrom + 10 * MIN, "h");
        assertThat(level(idleFrom + 10 * MIN).rate()).isLessThanOrEqualTo(before + AMOUNT * 10);
    }

    @Test
    void aStatedAmountIsTakenOnceThreeAnswersAgree() {
        finding(ALL, Finds.ADOPT);
        assertThat(state(T0, 3_000)).containsExactly(0L, 1L, 0L);
        assertThat(state(T0 + 1, 3_000)).containsExactly(0L, 1L, 0L);
        assertThat(state(T0 + 2, 2_000)).containsExactly(0L, 1L, 0L);
        assertThat(state(T0 + 3, 3_000)).containsExactly(0L, 1L, 0L);
        assertThat(state(T0 + 4, 3_000)).containsExactly(0L, 1L, 0L);
        assertThat(level(T0 + 4).rate()).isEqualTo(AMOUNT * 1_000);
        assertThat(state(T0 + 5, 3_000)).containsExactly(0L, 1L, 1L);
        assertThat(level(T0 + 5).rate()).isEqualTo(3_000 * 1_000);
        assertThat(scripts.acquire(T0 + 5, Ask.of("large", costs(Map.of("rpm", 3_001L)))))
                .startsWith("never", "c:m", "rpm", 3_001L, 3_000L);
        for (int k = 6; k < 9; k++) {
            state(T0 + k, 12_000);
        }
        assertThat(level(T0 + 9).rate()).isEqualTo(12_000 * 1_000);
    }

    /** A bucket too large to count was one that never emptied. */
    @Test
    void ofAStatedAmountNoMoreIsTakenThanCanBeCounted() {
        finding(ALL, Finds.ADOPT);
        for (int k = 0; k < 3; k++) {
            state(T0 + k, AMOUNT * 1_000_000_000);
        }
        Level level = level(T0 + 3);
        long most = (1L << 53) / (60_000 * S); // requests, each so many level units
        assertThat(level.rate()).isBetween(most * 990, (most + 1) * 1_000);
        scripts.acquire(T0 + 3, Ask.of("a", costs(Map.of("rpm", 500L))));
        assertThat(level(T0 + 3).units()).isBetween(level.units() - 500, level.units() - 499);
    }

    private List<Object> state(long at, long amount) {
        return left(at, -1, 1, amount, -1, 0);
    }

    @SuppressWarnings("unchecked")
    private List<Object> left(long at, long left, long step, long amount, long date, long age) {
        return (List<Object>)
                scripts.observe(at, List.of("left", "c:m", "rpm", left, step, amount, AMOUNT, -1, date, age))
                        .get(0);
    }

    @Test
    void aDifferentLimitIsToldAndNotTaken() {
        finding(ALL, Finds.NONE);
        for (int k = 0; k < 5; k++) {
            assertThat(state(T0 + k, 3_000)).containsExactly(0L, 1L, 0L);
        }
        assertThat(state(T0 + 6, AMOUNT)).containsExactly(0L, 0L, 0L);
        assertThat(level(T0 + 6).rate()).isEqualTo(AMOUNT * 1_000);
    }

    @Test
    void whatIsLeftLowersALevelAndNeverRaisesIt() {
        finding(ALL, Finds.NONE);
        assertThat(level(T0).units()).isEqualTo(500);
        assertThat(left(T0, 600, 1, 0, 1_000, 0)).containsExactly(0L, 0L, 0L);
        assertThat(left(T0, 30, 1, 0, 2_000, 0)).containsExactly(1L, 0L, 0L);
        assertThat(level(T0).units()).isEqualTo(30);
        assertThat(left(T0 + 1, 400, 1, 0, 3_000, 0)).containsExactly(0L, 0L, 0L);
        assertThat(level(T0 + 1).units()).isEqualTo(30);
        // 100 a second refill at the provider as well.
        assertThat(level(T0 + 2 * S).units()).isEqualTo(230);
    }

    @Test
    void anOlderAnswerThatComesLateIsIgnored() {
        finding(ALL, Finds.NONE);
        left(T0 + 2 * S, 3, 1, 0, 1_002_000, 0);
        assertThat(level(T0 + 2 * S).units()).isEqualTo(3);
        assertThat(left(T0 + 5 * S, 29, 1, 0, 1_000_000, 0)).containsExactly(0L, 0L, 0L);
        assertThat(level(T0 + 5 * S).units()).isEqualTo(303);
        assertThat(left(T0 + 5 * S, 0, 1, 0, 1_001_000, 0)).containsExactly(0L, 0L, 0L);
        assertThat(level(T0 + 5 * S).units()).isEqualTo(303);
    }

    /** One answer that a proxy dated tomorrow made everybody deaf until then. */
    @Test
    void anAnswerDatedTomorrowIsForgottenInMinutes() {
        finding(ALL, Finds.NONE);
        left(T0, 400, 1, 0, 1_000_000 + 86_400_000, 0);
        assertThat(left(T0 + MIN, 29, 1, 0, 1_060_000, 0)).containsExactly(0L, 0L, 0L);
        assertThat(left(T0 + 6 * MIN, 30, 1, 0, 1_360_000, 0)).containsExactly(1L, 0L, 0L);
        assertThat(level(T0 + 6 * MIN).units()).isEqualTo(30);
        assertThat(left(T0 + 6 * MIN, 2, 1, 0, 1_359_000, 0)).as("late again").containsExactly(0L, 0L, 0L);
        assertThat(left(T0 + MIN, 20, 1, 0, -1, 0)).as("clock set back").containsExactly(1L, 0L, 0L);
    }

    /** It made records that nobody counted, and a layout too many: the next policy found the project damaged and emptied it. */
    @Test
    void ofOneAgentsScopeNoAnswerTells() {
        scripts.install(
                T0,
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:m", -1, List.of(whole("rpm", AMOUNT))),
                new ScopeLimits("a:", -1, 100, List.of(whole("rpm", AMOUNT))));
        Map<String, Map<String, Long>> call = Map.of("p", Map.of(), "c:m", Map.of("rpm", 1L), "a:x", Map.of("rpm", 1L));
        scripts.acquire(T0, Ask.of("1", call));
        assertThat(scripts.observe(
                        T0,
                        List.of("left", "a:y", "rpm", 0, 1, 0, 0, -1, -1, 0),
                        List.of("left", "a:x", "rpm", 0, 1, 0, 0, -1, -1, 0),
                        List.of("slow", "a:x", 0, 0, 0, 0)))
                .containsExactly(List.of(0L, 0L, 0L), List.of(0L, 0L, 0L), List.of(0L));
        assertThat(scripts.rawLevels()).containsKey("a:x").doesNotContainKeys("a:y", "=a:x", "/a:x");
    }

    @Test
    void aRoundedOrAgedAnswerLeavesWhatItMayHaveMeant() {
        finding(ALL, Finds.NONE);
        left(T0, 0, 100, 0, 1, 0);
        assertThat(level(T0).units()).isEqualTo(100);
        left(T0, 0, 1, 0, 2, S / 2);
        assertThat(level(T0).units()).isEqualTo(50);
    }

    @Test
    void newAgentsBeginOneAfterTheOther() {
        RefillLimit starts = new RefillLimit(
                "agents_per_minute", 10, 60 * S, 1, 60 * S, 10, MIN, 10, 10, new Weights(1, 1, 0, 0, 0, 0));
        scripts.install(
                T0,
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:m", -1, List.of(whole("rpm", AMOUNT))),
                new ScopeLimits("n:p", -1, List.of(starts)));
        Map<String, Map<String, Long>> call =
                Map.of("p", Map.of(), "c:m", Map.of("rpm", 1L), "n:p", Map.of("agents_per_minute", 1L));
        assertThat(scripts.acquire(T0, Ask.of("1", call).agent("a"))).startsWith("granted");
        assertThat(scripts.acquire(T0, Ask.of("2", call).agent("b"))).startsWith("wait", 6 * S, 6 * S, "n:p");
        assertThat(scripts.acquire(T0, Ask.of("3", call).agent("b").waiting(MIN)))
                .startsWith("waiting");
        assertThat(scripts.acquire(T0, Ask.of("4", call).agent("a")))
                .as("who began does not wait for those that have not")
                .startsWith("granted");
        scripts.settle(T0 + S, "1", "cancelled", call);
        assertThat(scripts.beat(T0 + 6 * S - 1, "h").told("g")).isEmpty();
        assertThat(scripts.beat(T0 + 6 * S, "h").told("g")).containsExactly("3");
    }
}
