package io.sluice.redis;

import static io.sluice.redis.Scripted.S;
import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ScriptOutputType;
import io.sluice.CalendarTexts;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code lib/calendar.lua} against java.time. */
@WithRedis
class CalendarIT {
    private static final long SEED = Long.getLong("test.seed", 20_260_308); // the same in every build; another by hand

    private final RedisServer server;
    private Scripted scripts;

    CalendarIT(RedisServer server) {
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

    /** What comes of {@code next_end} for many times at once; text, for a reply has no fractions to show. */
    private List<Object> nextEnds(String calendar, List<Long> times) {
        String script = part("bucket") + part("calendar") + """
                local ends = {}
                for i = 2, #ARGV do
                  local found = calendar.next_end(ARGV[1], tonumber(ARGV[i]))
                  ends[i - 1] = found and string.format('%.3f', found) or 'none'
                end
                return ends
                """;
        List<String> arguments = new ArrayList<>(List.of(calendar));
        times.forEach(at -> arguments.add(Long.toString(at)));
        return scripts.redis.eval(script, ScriptOutputType.MULTI, new String[0], arguments.toArray(String[]::new));
    }

    private static String part(String name) {
        String file = "/io/sluice/lua/lib/" + name + ".lua";
        try (InputStream in = Objects.requireNonNull(CalendarIT.class.getResourceAsStream(file), file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void agrees(String calendar, List<Long> times) {
        List<Object> ends = nextEnds(CalendarTexts.of(calendar).get(0), times);
        for (int i = 0; i < times.size(); i++) {
            String what = "seed " + SEED + ": " + calendar + " after " + Instant.EPOCH.plusMillis(times.get(i) / 1_000)
                    + " (" + times.get(i) + ")";
            assertThat(ends.get(i)).as(what).isEqualTo(Boundaries.next(calendar, times.get(i)) + ".000");
        }
    }

    private static long us(String instant) {
        return Instant.parse(instant).getEpochSecond() * S;
    }

    /** Somewhere in 2000 to 2099. */
    private static long anywhere(Random random) {
        long from = us("2000-01-03T00:00:00Z");
        return from + (long) (random.nextDouble() * (us("2099-12-25T00:00:00Z") - from));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "UTC",
                "+05:45",
                "America/Los_Angeles",
                "Europe/Berlin",
                "America/Sao_Paulo", // its clocks went from 24:00 to 01:00 until 2018
                "America/Havana", // and here they go from 01:00 back to midnight
                "Africa/Cairo", // changed its mind often
                "Asia/Kathmandu",
                "Asia/Gaza",
                "Pacific/Apia", // had no 30 December 2011
                "Australia/Lord_Howe", // half an hour
                "America/St_Johns", // at one minute past midnight, until 2011
                "Africa/Casablanca", // out of summer time for Ramadan, year by year
                "Antarctica/Troll", // two hours
            })
    void aWindowEndsWhereJavaTimeSaysSo(String zone) {
        Random random = new Random(SEED + zone.hashCode());
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            times.add(anywhere(random));
        }
        // Around every third change of the clocks, and to the microsecond.
        ZoneId.of(zone).getRules().getTransitions().stream()
                .filter(change -> change.getInstant().isAfter(Instant.parse("2000-01-05T00:00:00Z")))
                .filter(change -> random.nextInt(3) == 0)
                .forEach(change -> {
                    for (long off : new long[] {-86_400, -3_600, -60, 0, 1_800, 3_600}) {
                        long at = (change.toEpochSecond() + off) * S;
                        times.addAll(List.of(at - 1, at, at + random.nextInt(1_000_000_000)));
                    }
                });
        for (String unit : List.of("minute", "hour", "day", "month")) {
            agrees(unit + " " + zone, times);
        }
    }

    @Test
    void soItIsInAnyZone() {
        Random random = new Random(SEED);
        List<String> zones = ZoneId.getAvailableZoneIds().stream().sorted().toList();
        for (int i = 0; i < 60; i++) {
            String zone = zones.get(random.nextInt(zones.size()));
            List<Long> times = new ArrayList<>();
            for (int k = 0; k < 60; k++) {
                times.add(anywhere(random));
            }
            agrees("day " + zone, times);
            agrees("month " + zone, times);
        }
    }

    /** Worked out by hand, should java.time itself have changed. */
    @ParameterizedTest
    @CsvSource({
        "day America/Los_Angeles,   2026-03-08T09:00:00Z, 2026-03-09T07:00:00Z", // 23 hours
        "day America/Los_Angeles,   2026-11-01T07:00:00Z, 2026-11-02T08:00:00Z", // 25
        "month Europe/Berlin,       2027-02-27T23:00:00Z, 2027-02-28T23:00:00Z", // 1 March there
        "month UTC,                 2028-02-28T23:00:00Z, 2028-03-01T00:00:00Z",
        "month UTC,                 2026-12-31T23:59:59Z, 2027-01-01T00:00:00Z",
        "day America/Sao_Paulo,     2018-11-03T12:00:00Z, 2018-11-04T03:00:00Z", // at 01:00
        "day Pacific/Apia,          2011-12-30T09:00:00Z, 2011-12-30T10:00:00Z", // the 31st, after the 29th
        "day America/St_Johns,      2010-11-07T02:00:00Z, 2010-11-07T02:30:00Z", // the first of two midnights
        "day America/St_Johns,      2010-11-07T02:40:00Z, 2010-11-08T03:30:00Z",
        "hour America/Los_Angeles,  2026-11-01T08:30:00Z, 2026-11-01T09:00:00Z", // 01:00 again
        "hour Asia/Kathmandu,       2026-11-01T00:00:00Z, 2026-11-01T00:15:00Z",
        "minute Australia/Lord_Howe, 2026-11-01T00:00:30Z, 2026-11-01T00:01:00Z",
        "day UTC,                   2151-05-05T05:05:05Z, 2151-05-06T00:00:00Z",
    })
    void someOfThemByHand(String calendar, String now, String end) {
        assertThat(nextEnds(CalendarTexts.of(calendar).get(0), List.of(us(now))))
                .containsExactly(us(end) + ".000");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "day",
                "day UTC",
                "week UTC 0",
                "day UTC x",
                "day UTC nan",
                "day UTC 0.5",
                "day UTC 0 1772964000", // a change to nothing
                "day UTC 0 1772964000 3600 1772964000 0", // not later
                "day UTC 0 inf 3600",
                "day UTC 100000",
            })
    void whatIsNoCalendarHasNoEnd(String text) {
        assertThat(nextEnds(text, List.of(us("2026-03-08T09:00:00Z")))).containsExactly("none");
    }
}
