package io.sluice.redis;

import static io.sluice.redis.Scripted.LEASE;
import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.perMinute;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts one situation at a time, at given times. Limits are "whole" (capacity = limit) unless the burst is the point. */
@WithRedis
class ScriptTablesIT {
    private static final long T0 = 1_796_000_000L * S;

    private final RedisServer server;
    private Scripted scripts;

    ScriptTablesIT(RedisServer server) {
        this.server = server;
    }

    @BeforeEach
    void connect() {
        scripts = new Scripted(server);
    }

    @AfterEach
    void everySlotHasItsPermit() {
        try (Scripted closing = scripts) {
            // Tests that end with a damaged project have said so themselves.
            if (closing.run(Script.INSPECT, List.of("", "levels")).get(0).equals("levels")) {
                Map<String, Long> running = closing.recount();
                closing.inspect(-1)
                        .forEach((name, scope) -> assertThat(scope.used())
                                .as("in flight in %s", name)
                                .isEqualTo(running.getOrDefault(name, 0L)));
            }
        }
    }

    private void classOf(long slots, RefillLimit... limits) {
        scripts.install(T0, new ScopeLimits("p", -1, List.of()), new ScopeLimits("c:m", slots, List.of(limits)));
    }

    private List<Object> ask(long at, String id, Object... costs) {
        return scripts.acquire(at, id, costs(costs));
    }

    private static Map<String, Map<String, Long>> costs(Object... pairs) {
        Map<String, Long> byName = new java.util.HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            byName.put((String) pairs[i], ((Number) pairs[i + 1]).longValue());
        }
        return Map.of("p", Map.of(), "c:m", byName);
    }

    private List<Object> settled(long at, String id, Object... used) {
        return scripts.settle(at, id, "settled", costs(used));
    }

    private static Object code(List<Object> reply) {
        return reply.get(0);
    }

    private long units(long at, String limit) {
        return scripts.level(at, "c:m", limit).units();
    }

    // ---- law 1: all or nothing

    /** A request was charged although no slot was free: BerriAI/litellm#39309. */
    @Test
    void aRefusalOnOneLimitChargesNone() {
        classOf(1, whole("rpm", 2));
        assertThat(code(ask(T0, "a", "rpm", 1))).isEqualTo("granted");
        Map<String, String> before = scripts.rawLevels();
        for (int i = 0; i < 100; i++) {
            assertThat(code(ask(T0, "b" + i, "rpm", 1))).isEqualTo("wait");
        }
        assertThat(scripts.rawLevels()).isEqualTo(before);
        settled(T0, "a", "rpm", 1);
        assertThat(code(ask(T0, "c", "rpm", 1))).isEqualTo("granted");
    }

    @Test
    void aLaterScopeThatIsShortLeavesTheEarlierOnesAlone() {
        scripts.install(
                T0,
                new ScopeLimits("p", 10, List.of(whole("tpm", 1000))),
                new ScopeLimits("c:m", -1, List.of(whole("rpm", 1))));
        Map<String, Map<String, Long>> cost = Map.of("p", Map.of("tpm", 100L), "c:m", Map.of("rpm", 1L));
        assertThat(code(scripts.acquire(T0, "a", cost))).isEqualTo("granted");
        Map<String, String> before = scripts.rawLevels();
        assertThat(scripts.acquire(T0, "b", cost).subList(0, 5)).containsExactly("wait", 60 * S, 60 * S, "c:m", "rpm");
        assertThat(scripts.rawLevels()).isEqualTo(before);
    }

    /** Five callers used 663 of 100: BerriAI/litellm#18730. The very first call of a limit of 1 passes: #14450. */
    @Test
    void simultaneousCallersCannotAllPass() {
        classOf(-1, whole("otpm", 1000));
        List<Object> codes = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            codes.add(code(ask(T0, "a" + i, "otpm", 400)));
        }
        assertThat(codes).containsExactly("granted", "granted", "wait", "wait", "wait");
    }

    // ---- law 2: the bound

    /** A full bucket plus refill admitted almost twice the limit in a minute: dimetron/pi-go#315. */
    @ParameterizedTest
    @CsvSource({"60, 1", "100000, 1000", "7, 1"})
    void aGreedyCallerStaysWithinTheLimitInItsFirstMinute(long limit, long cost) {
        classOf(-1, perMinute("x", limit));
        long admitted = 0;
        for (long at = T0; at < T0 + MIN; at += 50_000) {
            if (code(ask(at, "g" + at, "x", cost)).equals("granted")) {
                admitted += cost;
                settled(at, "g" + at, "x", cost);
            }
        }
        assertThat(admitted).isBetween(limit * 8 / 10, limit);
    }

    /** Fractions lost by polling kept a bucket empty: apache/polaris#3433. */
    @ParameterizedTest
    @ValueSource(longs = {1_000, 50_000, 100_000, 333_333})
    void pollingDoesNotCostARefill(long everyUs) {
        RefillLimit six = whole("rpm", 6);
        classOf(
                -1,
                new RefillLimit(
                        "rpm", six.rate(), six.factor(), 1, six.factor(), 6, MIN, 6, 6, six.weights())); // capacity 1
        int granted = 0;
        for (long at = T0; at <= T0 + 20 * S; at += everyUs) {
            granted += code(ask(at, "p" + at, "rpm", 1)).equals("granted") ? 1 : 0;
        }
        assertThat(granted).isEqualTo(everyUs == 333_333 ? 2 : 3); // at 0, 10 and 20 s; 333,333 does not divide 20 s
    }

    /** Digits lost on the way through Lua: redis/redis#13115. */
    @Test
    void takingAndGivingBackManyTimesLeavesTheLevelAsItWas() {
        classOf(-1, perMinute("itpm", 10_000_000));
        ask(T0, "x", "itpm", 1234);
        long before = scripts.level(T0, "c:m", "itpm").level();
        for (int i = 0; i < 1000; i++) {
            assertThat(code(ask(T0, "c" + i, "itpm", 1))).isEqualTo("granted");
            scripts.settle(T0, "c" + i, "cancelled", Map.of());
        }
        assertThat(scripts.level(T0, "c:m", "itpm").level()).isEqualTo(before);
    }

    /** Overflow after long idle made a bucket negative: bucket4j/bucket4j#51. */
    @ParameterizedTest
    @ValueSource(longs = {2 * 3600, 60 * 86_400, 300 * 86_400})
    void aLongIdleBucketIsExactlyFull(long seconds) {
        classOf(-1, whole("itpm", 2_000_000));
        ask(T0, "a", "itpm", 2_000_000);
        settled(T0, "a", "itpm", 2_000_000);
        assertThat(units(T0 + seconds * S, "itpm")).isEqualTo(2_000_000);
    }

    /** Permits given back after they had refilled counted twice: redisson/redisson#7329. */
    @Test
    void aRefundNeverLiftsTheBucketAboveItsCapacity() {
        classOf(-1, whole("itpm", 1000));
        for (int i = 0; i < 10; i++) {
            long at = T0 + 2L * i * MIN;
            assertThat(code(scripts.acquire(at, "r" + i, "d", "h", 15 * MIN, costs("itpm", 800))))
                    .isEqualTo("granted");
            settled(at + MIN, "r" + i, "itpm", 100);
            assertThat(units(at + MIN, "itpm")).isEqualTo(1000);
            settled(at + MIN, "r" + i, "itpm", 0);
            assertThat(units(at + MIN, "itpm")).isEqualTo(1000);
        }
    }

    /** Calls hang until the bucket is full again, then all are given up and asked again: they must not pass twice. */
    @Test
    void whatTheBucketHasMadeGoodIsNotGivenBackOnTop() {
        classOf(-1, whole("itpm", 1000));
        scripts.acquire(T0, "a", "d", "h", 15 * MIN, costs("itpm", 1000));
        assertThat(code(ask(T0 + MIN, "b", "itpm", 1000))).isEqualTo("granted");
        scripts.settle(T0 + MIN, "a", "cancelled", Map.of());
        assertThat(units(T0 + MIN, "itpm")).isZero();
        assertThat(code(ask(T0 + MIN, "c", "itpm", 1000))).isEqualTo("wait");
    }

    @Test
    void norIsWhatWasNotUsed() {
        classOf(-1, whole("itpm", 1000));
        scripts.acquire(T0, "a", "d", "h", 15 * MIN, costs("itpm", 1000));
        ask(T0 + MIN, "b", "itpm", 1000);
        assertThat(settled(T0 + MIN, "a", "itpm", 10)).startsWith("ended", "settled", 0L);
        assertThat(units(T0 + MIN, "itpm")).isZero();
    }

    @Test
    void aRefundBeforeTheBucketWasFullAgainComesBackWhole() {
        classOf(-1, whole("itpm", 1000));
        scripts.acquire(T0, "a", "d", "h", 15 * MIN, costs("itpm", 800));
        assertThat(code(ask(T0 + 30 * S, "b", "itpm", 700))).isEqualTo("granted");
        settled(T0 + 40 * S, "a", "itpm", 100);
        assertThat(units(T0 + 40 * S, "itpm")).isEqualTo(700 - 700 + 166 + 700);
    }

    // ---- law 3: a permit ends once

    /** A late release raised the capacity: bluetape4k/bluetape4k-projects#944, redisson/redisson#4091. */
    @Test
    void aLateReleaseFreesNobodyElsesSlotAndBooksOnce() {
        classOf(1, whole("itpm", 1000));
        scripts.acquire(T0, "a", "d", "h", 2 * S, costs("itpm", 100));
        assertThat(code(ask(T0 + 2_500_000, "b", "itpm", 100))).isEqualTo("granted");
        long before = scripts.level(T0 + 3 * S, "c:m", "itpm").level();
        assertThat(scripts.settle(T0 + 3 * S, "a", "cancelled", Map.of())).startsWith("ended", "expired", 1L);
        assertThat(scripts.level(T0 + 3 * S, "c:m", "itpm").level()).isEqualTo(before);
        assertThat(settled(T0 + 3 * S, "a", "itpm", 250)).startsWith("ended", "booked", 1L);
        assertThat(scripts.level(T0 + 3 * S, "c:m", "itpm").level())
                .as("150 more than the estimate, once")
                .isEqualTo(before - 150 * 600 * S);
        assertThat(settled(T0 + 3 * S, "a", "itpm", 900)).startsWith("ended", "expired", 1L);
        assertThat(code(ask(T0 + 3_100_000, "c", "itpm", 1))).as("b still runs").isEqualTo("wait");
        settled(T0 + 4 * S, "b", "itpm", 100);
        assertThat(settled(T0 + 4 * S, "b", "itpm", 100)).startsWith("ended", "settled", 1L);
        assertThat(code(ask(T0 + 4 * S, "d", "itpm", 1))).isEqualTo("granted");
        assertThat(code(ask(T0 + 4 * S, "e", "itpm", 1))).isEqualTo("wait");
    }

    /** Nobody ever got it: its id answered "ended" to the caller who asked again. */
    @Test
    void whatIsUndoneNeverWas() {
        classOf(1, whole("itpm", 1000));
        ask(T0, "a", "itpm", 100);
        assertThat(scripts.settle(T0, "a", "undone", Map.of())).startsWith("ended", "undone", 0L);
        assertThat(scripts.level(T0, "c:m", "itpm").units()).isEqualTo(1000);
        assertThat(scripts.settle(T0, "a", "undone", Map.of())).containsExactly("unknown");
        assertThat(code(ask(T0, "a", "itpm", 100))).isEqualTo("granted");

        assertThat(settled(T0, "a", "itpm", 100)).startsWith("ended", "settled", 0L);
        assertThat(scripts.settle(T0, "a", "undone", Map.of())).startsWith("ended", "settled", 1L);

        scripts.acquire(T0, "b", "d", "h", 2 * S, costs("itpm", 100));
        assertThat(scripts.settle(T0 + 2 * S, "b", "undone", Map.of())).startsWith("ended", "undone", 0L);
        assertThat(scripts.inspect(T0 + 2 * S).get("c:m").used()).isZero();
        assertThat(code(ask(T0 + 2 * S, "b", "itpm", 100))).isEqualTo("granted");
    }

    /** Read before expiring, a record whose lease ended this instant looks alive and frees its slot twice. */
    @Test
    void aSettleAtTheInstantTheLeaseEndsFindsThePermitExpired() {
        classOf(1);
        scripts.acquire(T0, "a", "d", "h", 2 * S, costs());
        assertThat(settled(T0 + 2 * S, "a")).startsWith("ended", "booked", 1L);
        assertThat(scripts.inspect(T0 + 2 * S).get("c:m").used()).isZero();
    }

    @Test
    void anAcquireAtTheInstantTheLeaseEndsFindsThePermitEnded() {
        classOf(1);
        scripts.acquire(T0, "a", "d", "h", 2 * S, costs());
        assertThat(code(scripts.acquire(T0 + 2 * S, "a", "d", "h", 2 * S, costs())))
                .isEqualTo("ended");
        assertThat(scripts.inspect(T0 + 2 * S).get("c:m").used()).isZero();
    }

    // ---- law 4: leases

    /** One leaked slot lived as long as there was traffic: BerriAI/litellm#28160. */
    @Test
    void aLeakedSlotComesBackUnderSteadyTraffic() {
        classOf(3);
        scripts.acquire(T0, "dead", "d", "h", LEASE, costs());
        for (long at = T0; at < T0 + LEASE; at += S) {
            ask(at, "t" + at);
            settled(at + S / 2, "t" + at);
        }
        for (int i = 0; i < 3; i++) {
            assertThat(code(ask(T0 + LEASE + 1, "after" + i))).isEqualTo("granted");
        }
    }

    /** A delayed heartbeat wrote a dead claim back: dpep/berater_rb#28. */
    @Test
    void aRenewalOfADeadLeaseIsLostAndWritesNothing() {
        classOf(1);
        scripts.acquire(T0, "a", "d", "h", 5 * S, costs());
        assertThat(code(ask(T0 + 5_500_000, "b"))).isEqualTo("granted");
        assertThat(scripts.beat(T0 + 8 * S, "h", "a", "b").renewed()).containsExactly(0L, 1L);
        assertThat(scripts.inspect(T0 + 8 * S).get("c:m").used()).isEqualTo(1);
        assertThat(settled(T0 + 8 * S, "b")).startsWith("ended", "settled", 0L);
    }

    /** Also where nothing else is due before: the instant the scripts wait for must follow. */
    @Test
    void anIdIsForgottenTenMinutesAfterItsEndHoweverLongItsLease() {
        classOf(3, whole("itpm", 1000));
        scripts.acquire(T0, "long", "d", "h", 15 * MIN, costs());
        settled(T0 + S, "long");
        assertThat(code(scripts.acquire(T0 + 9 * MIN, "long", "d", "h", LEASE, costs())))
                .isEqualTo("ended");
        assertThat(code(scripts.acquire(T0 + 11 * MIN, "long", "d", "h", LEASE, costs())))
                .isEqualTo("granted");
    }

    @Test
    void anIdIsForgottenTenMinutesAfterItsLateUsageWasBooked() {
        classOf(3, whole("itpm", 1000));
        ask(T0, "late", "itpm", 10);
        scripts.beat(T0 + MIN, "h");
        assertThat(settled(T0 + 2 * MIN, "late", "itpm", 10)).startsWith("ended", "booked");
        assertThat(code(ask(T0 + 11 * MIN, "late", "itpm", 10))).isEqualTo("ended");
        assertThat(code(ask(T0 + 13 * MIN, "late", "itpm", 10))).isEqualTo("granted");
    }

    /** Thousands of leases ended at once and the clean-up failed: redisson/redisson#3526. */
    @Test
    void manyLeasesEndingAtOnceAreClearedInSmallSteps() {
        classOf(-1);
        int permits = 2_000;
        for (int i = 0; i < permits; i++) {
            scripts.acquire(T0, "m" + i, "d", "h", 2 * S, costs());
        }
        assertThat(code(ask(T0 + MIN, "first"))).isEqualTo("granted");
        assertThat(scripts.inspect(T0 + MIN).get("p").used()).isEqualTo(permits - 32 + 1);
        int beats = 1;
        while (scripts.beat(T0 + MIN, "h").more()) {
            beats++;
        }
        assertThat(scripts.inspect(T0 + MIN).get("p").used()).isEqualTo(1);
        assertThat(beats).isLessThan(permits / 32 + 2);
    }

    // ---- law 5: ids

    /** Two calls with one id were merged and the first to finish freed both: BerriAI/litellm#36459. */
    @Test
    void anIdBelongsToOneCallerAndOneBody() {
        classOf(2);
        assertThat(code(scripts.acquire(T0, "job-1", "x", "h", LEASE, costs()))).isEqualTo("granted");
        assertThat(code(scripts.acquire(T0, "job-1", "y", "h", LEASE, costs()))).isEqualTo("conflict");
        List<Object> again = scripts.acquire(T0, "job-1", "x", "h", LEASE, costs());
        assertThat(again).startsWith("granted", "n-job-1").endsWith("memo", 1L);
        assertThat(scripts.inspect(T0).get("c:m").used()).isEqualTo(1);
        settled(T0, "job-1");
        assertThat(code(ask(T0, "z"))).isEqualTo("granted");
        assertThat(code(ask(T0, "w"))).isEqualTo("granted");
        assertThat(code(ask(T0, "v"))).isEqualTo("wait");
        assertThat(scripts.acquire(T0 + S, "job-1", "x", "h", LEASE, costs())).containsExactly("ended", "settled");
        assertThat(code(scripts.acquire(T0 + 11 * MIN, "job-1", "x", "h", LEASE, costs())))
                .isEqualTo("granted");
    }

    @Test
    void aPermitIsSettledOnlyUnderItsFullName() {
        classOf(1);
        ask(T0, "a");
        for (List<String> used : List.of(List.<String>of(), List.of("p", "0", "c:m", "0"))) {
            List<String> stranger = new ArrayList<>(List.of(Long.toString(T0), "a", "another nonce", "settled", ""));
            stranger.addAll(used);
            assertThat(scripts.run(Script.SETTLE, stranger)).containsExactly("unknown");
        }
        assertThat(scripts.inspect(T0).get("c:m").used()).isEqualTo(1);
    }

    // ---- law 6: debt

    /** An overdrawn budget kept admitting: songquanpeng/one-api#227. */
    @Test
    void anOverdrawnBudgetAdmitsNobodyUntilItHasRefilled() {
        classOf(-1, whole("otpm", 1000));
        ask(T0, "a", "otpm", 750);
        settled(T0, "a", "otpm", 3000);
        assertThat(units(T0, "otpm")).isEqualTo(-2000);
        assertThat(ask(T0, "b", "otpm", 1)).startsWith("wait", 120_060_000L, 120_060_000L);
        assertThat(ask(T0, "b", "otpm", 0)).startsWith("wait", 120 * S, 120 * S);
        assertThat(code(ask(T0 + 120 * S - 1, "b", "otpm", 0))).isEqualTo("wait");
        assertThat(code(ask(T0 + 120 * S, "b", "otpm", 0))).isEqualTo("granted");
        assertThat(code(ask(T0 + 120_060_000, "c", "otpm", 1))).isEqualTo("granted");
    }

    /** A key's fixed time to live forgave a debt: infinigence/octollm#33. */
    @Test
    void idleTimeForgivesNoDebt() {
        classOf(-1, whole("itpm", 1000));
        ask(T0, "a", "itpm", 1000);
        settled(T0, "a", "itpm", 4000);
        settled(T0, "a", "itpm", 4000);
        assertThat(units(T0, "itpm")).isEqualTo(-3000);
        assertThat(units(T0 + 2 * MIN, "itpm")).isEqualTo(-1000);
        assertThat(ask(T0 + 2 * MIN, "b", "itpm", 500)).startsWith("wait", 90 * S);
        assertThat(code(ask(T0 + 6 * MIN, "c", "itpm", 900))).isEqualTo("granted");
        assertThat(scripts.redis.ttl(scripts.keys.all()[1]))
                .as("levels never expire")
                .isEqualTo(-1);
    }

    @Test
    void aLimitRemovedAndAddedAgainStillOwes() {
        classOf(-1, whole("itpm", 1000));
        ask(T0, "a", "itpm", 1000);
        settled(T0, "a", "itpm", 3000);
        classOf(-1);
        assertThat(code(ask(T0, "free"))).isEqualTo("granted");
        classOf(-1, whole("itpm", 1000));
        assertThat(units(T0, "itpm")).isEqualTo(-2000);
        assertThat(code(ask(T0 + S, "b", "itpm", 1))).isEqualTo("wait");
    }

    @Test
    void usageFarAboveTheEstimateIsBookedAtItsBound() {
        classOf(-1, whole("itpm", 1000));
        ask(T0, "a", "itpm", 10);
        settled(T0, "a", "itpm", 1_000_000_000);
        assertThat(units(T0, "itpm")).as("one minute of the limit").isZero();
    }

    // ---- law 8: impossible, and larger than the burst

    /** A cost above the capacity waited for ever, or slipped through: run-llama/llama_index#23202. */
    @ParameterizedTest
    @CsvSource({"10000, granted", "10001, never", "15000, never"})
    void aCallLargerThanTheLimitIsRefusedAtOnce(long cost, String code) {
        classOf(-1, whole("itpm", 10_000));
        assertThat(code(ask(T0, "a", "itpm", cost))).isEqualTo(code);
    }

    @Test
    void aCallLargerThanTheBurstGoesIntoDebtWhenTheBucketIsFullAndTheMinuteHasRoom() {
        classOf(-1, perMinute("itpm", 60_000)); // burst 4,500, refill 900 a second, ceiling 54,000
        assertThat(code(ask(T0, "a", "itpm", 40_000))).isEqualTo("granted");
        assertThat(units(T0, "itpm")).isEqualTo(-35_500);
        settled(T0, "a", "itpm", 40_000);
        // Full after 40,000 / 900 = 44.4 s, but 40,000 + 30,000 > 60,000 until the first leaves the last 60 s.
        List<Object> wait = ask(T0 + 50 * S, "b", "itpm", 30_000);
        assertThat(code(wait)).isEqualTo("wait");
        long at = T0 + 50 * S + (Long) wait.get(1);
        assertThat(at).isBetween(T0 + 60 * S, T0 + 65 * S);
        assertThat(code(ask(at - 1, "b", "itpm", 30_000))).isEqualTo("wait");
        assertThat(code(ask(at, "b", "itpm", 30_000))).isEqualTo("granted");
    }

    @Test
    void aLargeCallThatUsedLittleLeavesRoomInTheMinute() {
        classOf(-1, perMinute("itpm", 60_000));
        ask(T0, "a", "itpm", 40_000);
        settled(T0 + 20 * S, "a", "itpm", 5_000);
        assertThat(scripts.level(T0 + 20 * S, "c:m", "itpm").admitted()).isEqualTo(5_000);
        assertThat(code(ask(T0 + 50 * S, "b", "itpm", 30_000))).isEqualTo("granted");
    }

    /** 0 is nothing, not unlimited: BerriAI/litellm#39881. */
    @Test
    void zeroIsClosed() {
        classOf(-1, perMinute("rpm", 0));
        assertThat(ask(T0, "a", "rpm", 1)).containsExactly("closed", "c:m", "rpm");
        assertThat(ask(T0, "a", "rpm", 0)).containsExactly("closed", "c:m", "rpm");
        classOf(0);
        assertThat(ask(T0, "a")).containsExactly("closed", "c:m", "concurrency");
    }

    /** An estimate of 0 skipped the check: BerriAI/litellm#35422. */
    @Test
    void aCostOfZeroIsStillTested() {
        classOf(-1, whole("otpm", 1000));
        ask(T0, "a", "otpm", 500);
        settled(T0, "a", "otpm", 1500);
        for (int i = 0; i < 20; i++) {
            assertThat(code(ask(T0, "z" + i, "otpm", 0))).isEqualTo("wait");
        }
    }

    // ---- law 10: time

    /** A late command moved the refill time back and credited it again: zeromicro/go-zero#4072. */
    @Test
    void aSmallStepBackFreezesTimeAndALargeOneGivesNoCredit() {
        classOf(-1, whole("itpm", 60_000));
        ask(T0 + 10 * S, "a", "itpm", 60_000);
        assertThat(units(T0 + 10 * S, "itpm")).isZero();
        assertThat(units(T0 + 9_500_000, "itpm")).isZero();
        assertThat(code(ask(T0 - 60 * S, "b", "itpm", 0))).isEqualTo("granted");
        assertThat(units(T0 - 60 * S, "itpm")).as("an hour back: no credit").isZero();
        assertThat(units(T0 - 59 * S, "itpm")).as("and time goes on from there").isEqualTo(1000);
        assertThat(scripts.redis.hget(scripts.keys.all()[1], "#clock_steps")).isEqualTo("1");
    }

    // ---- policy

    @Test
    void versionsOnlyGoUpAndTheSameContentKeepsItsOwn() {
        classOf(1);
        String first = scripts.stamp;
        assertThat(first).startsWith("1:");
        classOf(1);
        assertThat(scripts.stamp).isEqualTo(first);
        classOf(2);
        assertThat(scripts.stamp).startsWith("2:").endsWith(first.substring(1));
        ScopeLimits p = new ScopeLimits("p", -1, List.of());
        assertThat(scripts.install(T0, 0, "1", p)).startsWith("mismatch");
        assertThat(scripts.install(T0, 1, "", p)).startsWith("unchanged");
    }

    /** An in-flight call wrote old limits back: BerriAI/litellm#25553. */
    @Test
    void aCallResolvedAgainstAnOlderVersionIsToldSo() {
        classOf(1);
        String old = scripts.stamp;
        classOf(2);
        String now = scripts.stamp;
        scripts.stamp = old;
        assertThat(ask(T0, "a")).containsExactly("stale", now);
        assertThat(scripts.inspect(T0).get("c:m").used()).isZero();
    }

    @ParameterizedTest
    @CsvSource({
        "1000, 2000, 400, 400", // raised: nothing at once
        "1000, 300, 400, 300", // lowered: clamped
        "1000, 555, -200, -200", // debt stays
    })
    void changingALimitCarriesItsLevelOver(long from, long to, long left, long expected) {
        classOf(-1, whole("itpm", from));
        ask(T0, "a", "itpm", Math.min(from, from - left));
        settled(T0, "a", "itpm", from - left);
        classOf(-1, whole("itpm", to));
        assertThat(units(T0, "itpm")).isEqualTo(expected);
    }

    /** Lowering below what is in use killed the refresh: resilience4j/resilience4j#2489. */
    @Test
    void loweringSlotsLetsRunningCallsFinish() {
        classOf(5);
        for (int i = 0; i < 4; i++) {
            ask(T0, "r" + i);
        }
        classOf(2);
        for (int i = 0; i < 3; i++) {
            assertThat(code(ask(T0, "n" + i))).isEqualTo("wait");
            settled(T0, "r" + i);
        }
        assertThat(code(ask(T0, "n3"))).isEqualTo("granted");
    }

    // ---- damage

    /** Half of a bucket's data was evicted and the script failed for ever: Effect-TS/effect-smol#2352. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void aMissingKeyIsToldAndMended(int key) {
        classOf(3, whole("itpm", 1000));
        ask(T0, "a", "itpm", 100);
        scripts.redis.del(scripts.keys.all()[key]);
        ask(T0, "b", "itpm", 1);
        settled(T0, "a", "itpm", 1);
        scripts.beat(T0, "h", "a");
        scripts.install(
                T0 + S,
                1,
                "",
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:m", 3, List.of(whole("itpm", 1000))));
        assertThat(units(T0 + S, "itpm")).as("nobody knows what was used").isZero();
        assertThat(code(ask(T0 + MIN, "c", "itpm", 500))).isEqualTo("granted");
        assertThat(scripts.recount().getOrDefault("c:m", 0L))
                .isEqualTo(scripts.inspect(T0 + MIN).get("c:m").used());
    }

    @Test
    void aRecordThatCannotBeReadIsDroppedWhenTheProjectIsMended() {
        ScopeLimits p = new ScopeLimits("p", 5, List.of());
        scripts.install(T0, p);
        scripts.acquire(T0, "sound", Map.of("p", Map.of()));
        scripts.redis.hset(scripts.keys.all()[2], "text", "from an older version");
        scripts.redis.hset(scripts.keys.all()[2], "empty", "");
        scripts.redis.hdel(scripts.keys.all()[1], "!");
        scripts.install(T0, 1, "", p);
        assertThat(scripts.redis.hkeys(scripts.keys.all()[2])).containsExactlyInAnyOrder("!", "sound");
        assertThat(scripts.inspect(T0).get("p").used()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"!", "!due", "p", "=p", "c:m", "=c:m"})
    void aMissingFieldIsLostStateAndNeverPermission(String field) {
        classOf(3, whole("itpm", 1000));
        scripts.redis.hdel(scripts.keys.all()[1], field);
        assertThat(code(ask(T0, "a", "itpm", 1))).isEqualTo("lost");
        assertThat(scripts.recount()).isEmpty();
    }

    /** "nan" in the store made every comparison let callers through: HeyPuter/puter#3574. */
    @ParameterizedTest
    @ValueSource(strings = {"abc", "nan", ""})
    void aLevelThatIsNoNumberIsLostStateAndNeverPermission(String garbage) {
        classOf(3, whole("itpm", 1000));
        scripts.redis.hset(scripts.keys.all()[1], "c:m", garbage);
        assertThat(code(ask(T0, "a", "itpm", 1))).isEqualTo("lost");
        // The same as a double: NaN is what tonumber('nan') gives.
        scripts.redis.eval(
                "redis.call('HSET', KEYS[1], 'c:m', struct.pack('<ddddd', 1, 0, 0/0, 0, 0))",
                io.lettuce.core.ScriptOutputType.STATUS,
                scripts.keys.all()[1]);
        assertThat(code(ask(T0, "a", "itpm", 1))).isEqualTo("lost");
    }

    /** The key held another type from an older version: stefanprodan/AspNetCoreRateLimit#338. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void aKeyOfAWrongTypeAdmitsNobodyAndIsMended(int key) {
        classOf(3, whole("itpm", 1000));
        String name = scripts.keys.all()[key];
        scripts.redis.del(name);
        scripts.redis.set(name, "from an older version");
        scripts.redis.expire(name, 60);
        Map<String, String> before = key == 1 ? Map.of() : scripts.rawLevels();
        if (key == 1 || key == 2 || key == 5) {
            assertThatThrownBy(() -> ask(T0, "a", "itpm", 1)).hasMessageContaining("WRONGTYPE");
            assertThat(key == 1 ? Map.of() : scripts.rawLevels())
                    .as("nothing half written")
                    .isEqualTo(before);
        }
        scripts.install(
                T0,
                1,
                "",
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:m", 3, List.of(whole("itpm", 1000))));
        assertThat(code(ask(T0 + MIN, "b", "itpm", 1))).isEqualTo("granted");
        assertThat(scripts.redis.ttl(name)).as("the wrong key does not live on").isEqualTo(-1);
    }

    @ParameterizedTest
    @CsvSource({
        "lease, 6, 5",
        "lease, 6, nan",
        "weight, 9, 0",
        "weight, 9, 1000001",
        "weight, 9, nan",
        "weight, 9, 1.5",
        "wait, 12, -1",
        "wait, 12, nan",
        "wait, 12, ''",
        "limits, 14, x",
        "cost, 15, 1.5",
        "cost, 15, -1",
        "cost, 15, ''",
        "scopes, 13, q"
    })
    void aBadArgumentIsNamedAndWritesNothing(String named, int index, String value) {
        scripts.install(T0, new ScopeLimits("p", 1, List.of(whole("rpm", 10))));
        List<String> arguments = new ArrayList<>(List.of(
                Long.toString(T0),
                scripts.stamp,
                "a",
                "",
                "",
                "h",
                Long.toString(LEASE),
                "",
                "f|n",
                "4",
                "-",
                "",
                "0",
                "p",
                "1",
                "1"));
        arguments.set(index, value);
        Map<String, String> before = scripts.rawLevels();
        assertThatThrownBy(() -> scripts.run(Script.ACQUIRE, arguments)).hasMessageContaining("BADARG " + named);
        assertThat(scripts.rawLevels()).isEqualTo(before);
        assertThat(scripts.recount()).isEmpty();
    }
}
