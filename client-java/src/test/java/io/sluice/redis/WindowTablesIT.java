package io.sluice.redis;

import static io.sluice.redis.Scripted.MIN;
import static io.sluice.redis.Scripted.S;
import static io.sluice.redis.Scripted.calendar;
import static io.sluice.redis.Scripted.costs;
import static io.sluice.redis.Scripted.modelClass;
import static io.sluice.redis.Scripted.perMinute;
import static io.sluice.redis.Scripted.rolling;
import static io.sluice.redis.Scripted.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.CalendarTexts;
import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.redis.Scripted.Ask;
import io.sluice.redis.Scripted.Rules;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Limits by windows of the calendar and rolling ones, one situation at a time, at given times. */
@WithRedis
class WindowTablesIT {
    private static final long SEED = Long.getLong("test.seed", 10);
    private static final long HOUR = 60 * MIN;
    private static final long DAY = 24 * HOUR;
    private static final Rules DAYS =
            Rules.USUAL.calendars(CalendarTexts.of("day America/Los_Angeles", "month UTC", "day UTC", "minute UTC"));
    private static final int CALIFORNIA = 1;
    private static final int MONTHS = 2;
    private static final int UTC = 3;
    private static final int MINUTES = 4;

    /** Noon of a day of 24 hours. */
    private static final long NOON = us("2026-12-02T12:00:00Z");

    private static final long MIDNIGHT = us("2026-12-03T00:00:00Z");

    private final RedisServer server;
    private Scripted scripts;

    WindowTablesIT(RedisServer server) {
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

    private static long us(String instant) {
        return Instant.parse(instant).getEpochSecond() * S;
    }

    private static long berlin(String local) {
        return LocalDateTime.parse(local).atZone(ZoneId.of("Europe/Berlin")).toEpochSecond() * S;
    }

    private void install(long at, RefillLimit... limits) {
        scripts.install(at, DAYS, modelClass(-1, limits));
    }

    private List<Object> ask(long at, String id, long units) {
        return scripts.acquire(at, id, "d", "h", 15 * MIN, costs(Map.of("x", units)));
    }

    private void settled(long at, String id, long units) {
        scripts.settle(at, id, "settled", costs(Map.of("x", units)));
    }

    private long left(long at) {
        return scripts.level(at, "c:m", "x").level();
    }

    // ---- windows of the calendar

    /** A counter by the local date stayed full nine hours after the provider had begun a new day: mholzi/beatify#2452. */
    @Test
    void theProvidersDayIsNotOurs() {
        install(berlin("2026-07-31T12:00:00"), calendar("x", 100, CALIFORNIA));
        for (int i = 0; i < 100; i++) {
            assertThat(ask(berlin("2026-08-01T03:00:00"), "r" + i, 1)).startsWith("granted");
        }
        assertThat(ask(berlin("2026-08-01T03:00:00"), "r100", 1)).startsWith("wait", 6 * HOUR, 6 * HOUR, "c:m", "x");
        assertThat(ask(berlin("2026-08-01T08:59:00"), "late", 1)).startsWith("wait", MIN, MIN, "c:m", "x");
        assertThat(ask(berlin("2026-08-01T09:01:00"), "next", 1)).startsWith("granted");
        assertThat(left(berlin("2026-08-01T09:01:00"))).isEqualTo(99);
    }

    /** When it was spent, and how long until there is more. */
    @ParameterizedTest
    @CsvSource({
        "1, 2026-03-08T08:00:00Z, 23", // clocks go forward that day
        "1, 2026-11-01T07:00:00Z, 25", // and back
        "2, 2027-02-01T00:00:00Z, 672",
        "2, 2028-02-01T00:00:00Z, 696",
        "2, 2026-12-31T23:00:00Z, 1",
        "2, 2026-12-01T00:00:00Z, 744",
    })
    void aWindowIsAsLongAsItsDayOrMonth(int calendar, String spent, long hours) {
        long at = us(spent);
        install(at - DAY, calendar("x", 10, calendar));
        assertThat(ask(at, "a", 10)).startsWith("granted");
        assertThat(ask(at, "b", 1)).startsWith("wait", hours * HOUR, hours * HOUR);
        assertThat(ask(at + hours * HOUR - 1, "b", 1)).startsWith("wait", 1L, 1L);
        assertThat(ask(at + hours * HOUR, "b", 10)).startsWith("granted");
        assertThat(scripts.level(at + hours * HOUR, "c:m", "x").ends()).isGreaterThan(at + hours * HOUR);
    }

    /** Years without a call do not confuse it, and one that comes exactly at an end is in the new window. */
    @Test
    void aWindowEndsAlsoIfNobodyIsThere() {
        install(NOON, calendar("x", 10, UTC));
        ask(NOON, "a", 10);
        long later = us("2031-05-05T05:05:05Z");
        assertThat(ask(later, "b", 10)).startsWith("granted");
        assertThat(ask(later, "c", 1).get(2)).isEqualTo(us("2031-05-06T00:00:00Z") - later);
    }

    /** What a permit of yesterday did not use is not today's, what it used on top is. */
    @Test
    void aPermitMaySpanTheEndOfItsWindow() {
        install(NOON, calendar("x", 100, UTC));
        ask(MIDNIGHT - S, "less", 50);
        ask(MIDNIGHT - S, "nothing", 20);
        ask(MIDNIGHT - S, "more", 10);
        ask(MIDNIGHT + S, "today", 50);
        settled(MIDNIGHT + S, "less", 20);
        assertThat(left(MIDNIGHT + S)).as("nothing comes back").isEqualTo(50);
        scripts.settle(MIDNIGHT + S, "nothing", "cancelled", Map.of());
        assertThat(left(MIDNIGHT + S)).as("on the longer path neither").isEqualTo(50);
        settled(MIDNIGHT + 2 * S, "more", 25);
        assertThat(left(MIDNIGHT + 2 * S)).as("15 on top").isEqualTo(35);
        settled(MIDNIGHT + 4 * S, "today", 20);
        assertThat(left(MIDNIGHT + 4 * S)).as("its own window's").isEqualTo(65);
    }

    /** A debt shuts the rest of the day, and not the next one: the provider forgets it too. */
    @Test
    void theEndOfAWindowPaysItsDebt() {
        install(NOON, calendar("x", 100, UTC));
        ask(NOON, "a", 60);
        settled(NOON + S, "a", 240);
        assertThat(left(NOON + S)).isEqualTo(-140);
        assertThat(ask(NOON + S, "b", 1)).startsWith("wait", MIDNIGHT - NOON - S);
        assertThat(ask(MIDNIGHT, "b", 100)).startsWith("granted");
    }

    @Test
    void whatIsLargerThanAWholeWindowIsRefusedForEver() {
        install(NOON, calendar("x", 100, UTC));
        assertThat(ask(NOON, "a", 101)).containsExactly("never", "c:m", "x", 101L, 100L);
        install(NOON, rolling("x", 100, 10 * MIN));
        assertThat(ask(NOON, "a", 101)).containsExactly("never", "c:m", "x", 101L, 100L);
    }

    /** Who waits in line starts when the window ends, by whatever host's beat. */
    @Test
    void whoWaitsStartsWithTheNewWindow() {
        install(NOON, calendar("x", 1, MINUTES));
        ask(NOON, "a", 1);
        Ask waits = Ask.of("b", costs(Map.of("x", 1L))).waiting(2 * MIN);
        assertThat(scripts.acquire(NOON + S, waits)).startsWith("waiting", 59 * S, 59 * S, "c:m", "x", 1L);
        assertThat(scripts.acquire(NOON + S, waits.id("c"))).startsWith("waiting");
        nobodyStarts(NOON + S, NOON + MIN);
        assertThat(scripts.beat(NOON + MIN, "h").told("g")).containsExactly("b");
        assertThat(scripts.claim(NOON + MIN, "h", "b").claims().get(0)).startsWith("granted");
        nobodyStarts(NOON + MIN, NOON + 2 * MIN);
        assertThat(scripts.beat(NOON + 2 * MIN, "h").told("g")).containsExactly("c");
    }

    private void nobodyStarts(long from, long to) {
        for (long at = from; at < to; at += 250_000) {
            assertThat(scripts.beat(at, "h").told("g")).isEmpty();
        }
        assertThat(scripts.beat(to - 1, "h").told("g")).isEmpty();
    }

    @Test
    void nothingPassesWhereTheAmountIsZero() {
        install(NOON, calendar("x", 0, UTC));
        assertThat(ask(NOON, "a", 0)).containsExactly("closed", "c:m", "x");
        install(NOON, rolling("x", 0, MIN));
        assertThat(ask(NOON, "a", 0)).containsExactly("closed", "c:m", "x");
    }

    // ---- other amounts, other windows

    /** Lowered below what is used, the difference was negative and nothing ever came back: resilience4j/resilience4j#2489. */
    @Test
    void anAmountBelowWhatIsUsedIsTheRestOfTheDaysRefusal() {
        install(NOON, calendar("x", 100, UTC));
        ask(NOON, "a", 80);
        install(NOON + S, calendar("x", 50, UTC));
        assertThat(left(NOON + S)).isEqualTo(-30);
        assertThat(ask(NOON + S, "b", 1).get(2)).isEqualTo(MIDNIGHT - NOON - S);
        settled(NOON + 2 * S, "a", 40);
        assertThat(left(NOON + 2 * S)).as("it was half as much after all").isEqualTo(10);
        assertThat(ask(MIDNIGHT, "c", 50)).startsWith("granted");
    }

    /** New limits were ignored because the bucket was there already: bucket4j/bucket4j#261. */
    @Test
    void aLargerAmountGivesTheRestOfTheDay() {
        install(NOON, calendar("x", 100, UTC));
        ask(NOON, "a", 90);
        install(NOON + S, calendar("x", 200, UTC));
        assertThat(left(NOON + S)).isEqualTo(110);
        install(NOON + 2 * S, calendar("x", 0, UTC));
        assertThat(ask(NOON + 2 * S, "b", 1)).startsWith("closed");
        install(NOON + 3 * S, calendar("x", 120, UTC));
        assertThat(left(NOON + 3 * S)).as("shut for a moment").isEqualTo(30);
    }

    /** The rest of the month is what the day has used, and the other way round; rolling windows too. */
    @Test
    void whatWasUsedOfAWindowIsUsedOfAnother() {
        install(NOON, calendar("x", 100, UTC));
        ask(NOON, "a", 30);
        install(NOON + S, calendar("x", 500, MONTHS));
        assertThat(left(NOON + S)).isEqualTo(470);
        assertThat(ask(MIDNIGHT, "b", 471)).startsWith("wait", us("2027-01-01T00:00:00Z") - MIDNIGHT);
        install(MIDNIGHT, rolling("x", 100, 10 * MIN));
        assertThat(left(MIDNIGHT)).isEqualTo(70);
        assertThat(ask(MIDNIGHT, "c", 71)).startsWith("wait", 10 * MIN + 10 * S);
        install(MIDNIGHT + S, calendar("x", 40, UTC));
        assertThat(left(MIDNIGHT + S)).isEqualTo(10);
    }

    /** Of a bucket nobody knows what was used before it refilled. */
    @Test
    void aWindowThatWasABucketHasNoMoreThanWasLeft() {
        install(NOON, whole("x", 100));
        ask(NOON, "a", 60);
        install(NOON, calendar("x", 1_000, UTC));
        assertThat(left(NOON)).isEqualTo(40);
        install(NOON, whole("x", 100));
        assertThat(scripts.level(NOON, "c:m", "x").units()).isEqualTo(40);
        install(NOON, rolling("x", 1_000, MIN));
        assertThat(left(NOON)).isEqualTo(40);
    }

    /** No removal forgives what was used, and a calendar that the policy has no more is remembered as long as that needs it. */
    @Test
    void aRemovedWindowCountsUntilItsEnd() {
        install(NOON, calendar("x", 100, UTC));
        ask(NOON, "a", 90);
        scripts.install(NOON + S, Rules.USUAL, modelClass(-1));
        install(NOON + 2 * S, calendar("x", 100, UTC));
        assertThat(left(NOON + 2 * S)).isEqualTo(10);
        scripts.install(NOON + 3 * S, Rules.USUAL, modelClass(-1));
        install(MIDNIGHT, calendar("x", 100, UTC));
        assertThat(left(MIDNIGHT)).isEqualTo(100);
        scripts.install(MIDNIGHT + 1, Rules.USUAL, modelClass(-1));
        scripts.install(MIDNIGHT + 2, Rules.USUAL, modelClass(1));
        assertThat(scripts.redis.hget(scripts.keys.all()[1], "@1")).isEqualTo("day UTC 0");
        assertThat(scripts.redis.hkeys(scripts.keys.all()[1])).doesNotContain("@2", "@3", "@4");
        assertThat(scripts.redis.zrange(scripts.keys.all()[5], 0, -1)).doesNotContain("$c:m");
    }

    /** Redis restarted empty: no second full day. */
    @Test
    void aMendedProjectBeginsWithEmptyWindows() {
        install(NOON, calendar("x", 100, UTC), rolling("y", 100, MIN));
        scripts.redis.del(scripts.keys.all()[1]);
        scripts.install(NOON + S, 1, "", DAYS, modelClass(-1, calendar("x", 100, UTC), rolling("y", 100, MIN)));
        assertThat(ask(NOON + S, "a", 1)).startsWith("wait", MIDNIGHT - NOON - S);
        assertThat(scripts.level(NOON + S, "c:m", "y").level()).isZero();
        assertThat(scripts.level(NOON + 2 * MIN, "c:m", "y").level()).isEqualTo(100);
    }

    // ---- rolling windows

    /** Never more than the amount in any ten minutes, to the microsecond; most of it can be used, and waits are exact. */
    @Test
    void noTenMinutesHaveMoreThanTheAmount() {
        long period = 10 * MIN;
        install(NOON, rolling("x", 1_000, period));
        Random random = new Random(SEED);
        Deque<long[]> admitted = new ArrayDeque<>();
        long sum = 0;
        long total = 0;
        long at = NOON;
        int waits = 0;
        for (int i = 0; at < NOON + 30 * period; i++) {
            long units = random.nextLong(1, 61);
            List<Object> reply = ask(at, "a" + i, units);
            if (reply.get(0).equals("wait")) {
                long wait = (Long) reply.get(2);
                assertThat(reply).as("seed " + SEED + " at " + at).startsWith("wait", wait, wait);
                assertThat(ask(at + wait - 1, "early" + i, units)).startsWith("wait", 1L, 1L);
                at += wait;
                assertThat(ask(at, "b" + i, units))
                        .as("seed " + SEED + " at " + at)
                        .startsWith("granted");
                waits++;
            }
            admitted.addLast(new long[] {at, units});
            sum += units;
            total += units;
            while (admitted.getFirst()[0] <= at - period) {
                sum -= admitted.removeFirst()[1];
            }
            assertThat(sum).as("seed " + SEED + ": the ten minutes up to " + at).isLessThanOrEqualTo(1_000);
            at += random.nextInt(20) == 0 ? random.nextLong(200) * S : random.nextInt(5_000_000);
        }
        assertThat(waits).isGreaterThan(50);
        assertThat(total).as("of 30,000").isGreaterThan(24_000);
    }

    @Test
    void whatComesBackGoesIntoItsSlotAndAfterThePeriodNowhere() {
        install(NOON, rolling("x", 100, MIN));
        ask(NOON, "a", 60);
        ask(NOON + 10 * S, "b", 40);
        settled(NOON + 20 * S, "a", 10);
        assertThat(left(NOON + 20 * S)).isEqualTo(50);
        assertThat(ask(NOON + 20 * S, "c", 60))
                .as("the ten left of the first slot")
                .startsWith("wait", 41 * S);
        assertThat(ask(NOON + 61 * S, "c", 60)).startsWith("granted");
        settled(NOON + 71 * S, "b", 0);
        assertThat(left(NOON + 71 * S)).as("time has made it good").isEqualTo(40);
        settled(NOON + 72 * S, "c", 90);
        assertThat(left(NOON + 72 * S)).as("thirty more, in its own slot").isEqualTo(10);
        assertThat(left(NOON + 122 * S)).isEqualTo(100);
    }

    @Test
    void whatWasUsedOnTopAndComesLateCountsFromThen() {
        install(NOON, rolling("x", 100, MIN));
        ask(NOON, "a", 60);
        settled(NOON + 90 * S, "a", 140);
        assertThat(left(NOON + 90 * S)).isEqualTo(20);
        assertThat(left(NOON + 151 * S - 1)).isEqualTo(20);
        assertThat(left(NOON + 151 * S)).isEqualTo(100);
    }

    /** A slot is a sixtieth rounded up: sixty of them are never shorter than the period. */
    @Test
    void aPeriodThatSixtyDoesNotDivideIsCoveredToo() {
        install(NOON, rolling("x", 10, S));
        long end = NOON / 16_667 * 16_667 + 16_667; // of the slot
        ask(end - 1, "a", 10);
        assertThat(ask(end - 1 + S - 1, "b", 1)).startsWith("wait");
        assertThat(ask(end + 60 * 16_667, "b", 1)).startsWith("granted");
    }

    // ---- the clock

    /** A clock that ran ahead of midnight and was set back: nothing is given for that, and the day ends when it ends. */
    @Test
    void aClockSetBackOverTheEndOfAWindowGivesNothing() {
        install(NOON, calendar("x", 100, UTC), perMinute("y", 100));
        ask(NOON, "a", 90);
        assertThat(ask(MIDNIGHT + HOUR, "ahead", 70)).startsWith("granted");
        assertThat(left(MIDNIGHT + HOUR)).isEqualTo(30);
        assertThat(left(NOON + HOUR)).as("back in the day before").isEqualTo(30);
        assertThat(ask(NOON + HOUR, "b", 31)).startsWith("wait", MIDNIGHT - NOON - HOUR);
        assertThat(ask(NOON + HOUR, "b", 30)).startsWith("granted");
        assertThat(ask(MIDNIGHT - 1, "c", 1)).startsWith("wait", 1L);
        assertThat(ask(MIDNIGHT, "c", 100)).startsWith("granted");
        assertThat(ask(MIDNIGHT + DAY, "d", 100)).startsWith("granted");
    }

    /** Set back by years: no window waits for a time that is far away. */
    @Test
    void noWindowIsEternalBecauseTheClockRanAhead() {
        install(us("2036-01-01T12:00:00Z"), calendar("x", 100, MONTHS), rolling("y", 100, 10 * MIN));
        scripts.acquire(us("2036-01-01T12:00:00Z"), "a", costs(Map.of("x", 100L, "y", 100L)));
        Map<String, Map<String, Long>> call = costs(Map.of("x", 1L, "y", 1L));
        assertThat(scripts.acquire(NOON, "b", call)).startsWith("wait", us("2027-01-01T00:00:00Z") - NOON);
        assertThat(scripts.level(NOON, "c:m", "y").level()).isZero();
        assertThat(scripts.acquire(us("2027-01-01T00:00:00Z"), "b", call)).startsWith("granted");
    }

    /** A window that has just ended does not end again because the clock went back a little. */
    @Test
    void aSmallStepBackDoesNotEndAWindowTwice() {
        install(NOON, calendar("x", 100, UTC));
        scripts.beat(MIDNIGHT + 5_000, "h");
        assertThat(ask(MIDNIGHT - 300_000, "a", 100)).startsWith("granted");
        assertThat(ask(MIDNIGHT + 10_000, "b", 1)).startsWith("wait", DAY - 10_000);
    }

    // ---- agents' own

    /** Made when first used, each with a window of its own; swept once the window has ended. */
    @Test
    void eachAgentHasItsDay() {
        scripts.install(
                NOON,
                DAYS.most("a:", 2),
                new ScopeLimits("p", -1, List.of()),
                new ScopeLimits("c:m", -1, List.of()),
                new ScopeLimits("a:", -1, List.of(calendar("x", 10, UTC), rolling("y", 100, MIN))));
        assertThat(asks(NOON, "1", "ann", 10)).startsWith("granted");
        assertThat(asks(NOON, "2", "ben", 4)).startsWith("granted");
        assertThat(asks(NOON, "3", "ann", 1)).startsWith("wait", MIDNIGHT - NOON, MIDNIGHT - NOON, "a:ann", "x");
        assertThat(asks(NOON, "4", "eve", 1)).startsWith("full", 2L, 2L, "a:");
        for (String id : List.of("1", "2")) {
            scripts.settle(NOON + S, id, "settled", Map.of());
        }
        for (long at = NOON; at < NOON + HOUR; at += 10 * MIN) {
            scripts.beat(at, "h");
        }
        assertThat(scripts.inspect(NOON + HOUR)).as("they owe until midnight").containsKeys("a:ann", "a:ben");
        assertThat(redisCalls("zrangebyscore", () -> scripts.beat(NOON + HOUR, "h")))
                .isPositive();
        assertThat(scripts.redis.zscore(scripts.keys.all()[5], "*a:ann"))
                .as("and nobody looks before")
                .isEqualTo((double) MIDNIGHT);
        scripts.beat(MIDNIGHT, "h");
        scripts.beat(MIDNIGHT + MIN, "h");
        assertThat(scripts.inspect(MIDNIGHT + MIN)).doesNotContainKeys("a:ann", "a:ben");
        assertThat(scripts.redis.zrange(scripts.keys.all()[5], 0, -1)).containsExactly("!");
        assertThat(asks(MIDNIGHT + MIN, "5", "eve", 10)).startsWith("granted");
        assertThat(asks(MIDNIGHT + MIN, "6", "ann", 10)).startsWith("granted");
    }

    private List<Object> asks(long at, String id, String agent, long units) {
        Map<String, Map<String, Long>> costs =
                Map.of("p", Map.of(), "c:m", Map.of(), "a:" + agent, Map.of("x", units, "y", units));
        return scripts.acquire(at, Ask.of(id, costs).agent(agent));
    }

    // ---- what it costs

    /** Between the ends of windows the short path decides; what only the long one does is counted. */
    @Test
    void theUncontendedPathKnowsWindows() {
        install(NOON, calendar("x", 1_000, UTC), rolling("y", 1_000, 10 * MIN), perMinute("rpm", 60_000));
        Map<String, Map<String, Long>> call = costs(Map.of("x", 1L, "y", 1L, "rpm", 1L));
        scripts.acquire(MIDNIGHT - 3 * S, "first", call);
        assertThat(redisCalls("zrangebyscore", () -> pairs(MIDNIGHT - 2 * S, call)))
                .isZero();
        assertThat(redisCalls("zrangebyscore", () -> pairs(MIDNIGHT - 1, call))).isZero();
        assertThat(redisCalls("zrangebyscore", () -> pairs(MIDNIGHT, call)))
                .as("once at its end, and the rolling window has a new slot")
                .isBetween(1L, 2L);
        assertThat(redisCalls("zrangebyscore", () -> pairs(MIDNIGHT + S, call))).isZero();
        assertThat(scripts.level(MIDNIGHT + S, "c:m", "x").level()).isEqualTo(980);
        assertThat(scripts.level(MIDNIGHT + S, "c:m", "y").level()).isEqualTo(1_000 - 41);
    }

    /** A call of the new window must not be counted in the old one, or it is forgotten with it: at each end anew. */
    @Test
    void noCallIsChargedToAWindowThatIsOver() {
        install(NOON, calendar("x", 100, UTC));
        for (long end = MIDNIGHT; end < MIDNIGHT + 4 * DAY; end += DAY) {
            ask(end - 2 * S, "old" + end, 7);
            ask(end - S, "older" + end, 7);
            assertThat(ask(end, "new" + end, 11)).startsWith("granted");
            assertThat(left(end)).isEqualTo(89);
            assertThat(ask(end + S, "next" + end, 11)).startsWith("granted");
            assertThat(left(end + S)).isEqualTo(78);
        }
    }

    private void pairs(long at, Map<String, Map<String, Long>> call) {
        for (int i = 0; i < 10; i++) {
            String id = at + "-" + i;
            assertThat(scripts.acquire(at, id, call)).startsWith("granted");
            assertThat(scripts.settle(at, id, "settled", call)).startsWith("ended");
        }
    }

    /** How often Redis ran that command meanwhile, by scripts too. */
    private long redisCalls(String command, Runnable what) {
        long before = calls(command);
        what.run();
        return calls(command) - before;
    }

    private long calls(String command) {
        String stat = "cmdstat_" + command + ":calls=";
        return scripts.redis
                .info("commandstats")
                .lines()
                .filter(line -> line.startsWith(stat))
                .mapToLong(line -> Long.parseLong(line.substring(stat.length(), line.indexOf(','))))
                .sum();
    }

    /** What would have waited is told, with the exact wait; a debt has a floor where only time would end it. */
    @Test
    void shadowModeTellsWhatAWindowWouldHaveDone() {
        scripts.install(NOON, DAYS.shadow(), modelClass(-1, calendar("x", 100, UTC), rolling("y", 100, MIN)));
        Map<String, Map<String, Long>> call = costs(Map.of("x", 80L, "y", 10L));
        assertThat(scripts.acquire(NOON, "a", call)).hasSize(6);
        List<Object> reply = scripts.acquire(NOON, "b", call);
        assertThat(reply.subList(6, 10)).containsExactly(MIDNIGHT - NOON, MIDNIGHT - NOON, "c:m", "x");
        for (int i = 0; i < 20; i++) {
            scripts.acquire(NOON, "c" + i, call);
        }
        assertThat(scripts.level(NOON, "c:m", "x").level())
                .as("a minute's part of a day is 1")
                .isEqualTo(-1);
        assertThat(scripts.level(NOON, "c:m", "y").level()).isEqualTo(-120);
        assertThat(scripts.level(NOON + 61 * S, "c:m", "y").level()).isEqualTo(100);
    }
}
