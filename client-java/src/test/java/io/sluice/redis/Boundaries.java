package io.sluice.redis;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/** Where a window of the calendar ends, said with java.time and as plainly as possible. Times in µs. */
final class Boundaries {
    private static final long S = 1_000_000;

    private Boundaries() {}

    /** @param calendar {@code unit zone}, such as {@code day America/Los_Angeles}; what follows does not matter */
    static long next(String calendar, long nowUs) {
        String[] words = calendar.split(" ", 3);
        ZoneId zone = ZoneId.of(words[1]);
        return switch (words[0]) {
            case "day" -> nextStart(zone, nowUs, ChronoUnit.DAYS);
            case "month" -> nextStart(zone, nowUs, ChronoUnit.MONTHS);
            case "hour" -> nextReading(zone, nowUs, ChronoUnit.HOURS);
            case "minute" -> nextReading(zone, nowUs, ChronoUnit.MINUTES);
            default -> throw new IllegalArgumentException(calendar);
        };
    }

    /** The first start of a date after {@code now}, whatever happened to that date. */
    private static long nextStart(ZoneId zone, long nowUs, ChronoUnit unit) {
        LocalDate date = at(zone, nowUs).toLocalDate();
        date = unit == ChronoUnit.DAYS
                ? date.minusDays(2)
                : date.withDayOfMonth(1).minusMonths(1);
        long start = Long.MIN_VALUE;
        while (start <= nowUs) {
            date = date.plus(1, unit);
            start = date.atStartOfDay(zone).toEpochSecond() * S;
        }
        return start;
    }

    /** Minute by minute: the clock reads a full one, or has jumped over one. */
    private static long nextReading(ZoneId zone, long nowUs, ChronoUnit unit) {
        long at = nowUs;
        while (true) {
            at = Math.floorDiv(at, 60 * S) * 60 * S + 60 * S;
            LocalDateTime reads = at(zone, at);
            LocalDateTime full = reads.truncatedTo(unit);
            if (reads.equals(full) || full.isAfter(at(zone, at - S))) {
                return at;
            }
        }
    }

    private static LocalDateTime at(ZoneId zone, long us) {
        ZoneOffset offset = zone.getRules().getOffset(Instant.ofEpochSecond(Math.floorDiv(us, S)));
        return LocalDateTime.ofEpochSecond(Math.floorDiv(us, S), 0, offset);
    }
}
