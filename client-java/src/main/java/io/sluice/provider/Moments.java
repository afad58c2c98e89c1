package io.sluice.provider;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Points in time as providers write them. Junk is {@code null}. */
final class Moments {
    /** From here on a number is epoch milliseconds (the year 5138 in seconds, 1973 in milliseconds). */
    private static final long EPOCH_MILLIS = 100_000_000_000L;
    /** From here on a number can be epoch seconds (2001). */
    private static final long EPOCH_SECONDS = 1_000_000_000L;

    private static final List<String> MONTHS =
            List.of("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec");
    private static final Pattern DATE =
            Pattern.compile("(\\d{4})-(\\d{2})-(\\d{2})(?:(?: at |T| )(\\d{2}):(\\d{2})(?::(\\d{2}))?)?");

    private Moments() {}

    /** {@code 2026-08-24T12:00:03Z}, also with another offset. */
    static @Nullable Instant rfc3339(@Nullable String text) {
        try {
            return text == null ? null : OffsetDateTime.parse(text.strip()).toInstant();
        } catch (DateTimeException e) {
            return null;
        }
    }

    /** Seconds or milliseconds since 1970, told apart by their size; {@code null} for anything too small to be either. */
    static @Nullable Instant epoch(@Nullable Long number) {
        if (number == null || number < EPOCH_SECONDS) {
            return null;
        }
        return number >= EPOCH_MILLIS ? Instant.ofEpochMilli(number) : Instant.ofEpochSecond(number);
    }

    /**
     * The three forms of an HTTP date: {@code Sun, 06 Nov 1994 08:49:37 GMT}, {@code Sunday, 06-Nov-94 08:49:37 GMT},
     * {@code Sun Nov  6 08:49:37 1994}. Which day of the week it says does not matter.
     *
     * @param now tells which century two digits of a year mean
     */
    static @Nullable Instant httpDate(@Nullable String text, Instant now) {
        if (text == null || text.length() > 64) {
            return null;
        }
        List<String> words = words(text.toLowerCase(Locale.ROOT));
        if (words.size() == 6 && isUtc(words.get(5))) {
            return instant(words.get(3), words.get(2), words.get(1), words.get(4), now);
        }
        if (words.size() == 5 && MONTHS.contains(words.get(1))) {
            return instant(words.get(4), words.get(1), words.get(2), words.get(3), now);
        }
        return null;
    }

    /** The first date in a sentence: {@code You will regain access on 2026-09-01 at 00:00 UTC.} */
    static @Nullable Instant dateIn(String sentence) {
        Matcher date = DATE.matcher(sentence);
        while (date.find()) {
            try {
                return LocalDateTime.of(
                                number(date.group(1)),
                                number(date.group(2)),
                                number(date.group(3)),
                                number(date.group(4)),
                                number(date.group(5)),
                                number(date.group(6)))
                        .toInstant(ZoneOffset.UTC);
            } catch (DateTimeException e) {
                // No such day: maybe a later one is.
            }
        }
        return null;
    }

    static Instant nextMinute(Instant now) {
        return now.truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);
    }

    /** The next start of a day in the zone: 23, 24 or 25 h after the last. */
    static Instant nextDay(Instant now, ZoneId zone) {
        return now.atZone(zone).toLocalDate().plusDays(1).atStartOfDay(zone).toInstant();
    }

    /** The first of the next month, 00:00 UTC. */
    static Instant nextMonth(Instant now) {
        LocalDate today = now.atZone(ZoneOffset.UTC).toLocalDate();
        return today.withDayOfMonth(1)
                .plusMonths(1)
                .atStartOfDay(ZoneOffset.UTC)
                .toInstant();
    }

    /** How long from one to the other, in whole milliseconds, rounded up; 0 if it is past. */
    static Duration between(Instant from, Instant to) {
        if (!to.isAfter(from)) {
            return Duration.ZERO;
        }
        if (to.isAfter(from.plus(Spans.MAX))) {
            return Spans.MAX;
        }
        return Duration.ofMillis(Duration.between(from, to).plusNanos(999_999).toMillis());
    }

    private static @Nullable Instant instant(String year, String month, String day, String time, Instant now) {
        try {
            String[] clock = time.split(":", -1);
            if (clock.length != 3) {
                return null;
            }
            int second = number(clock[2]);
            // A leap second is the next one to everybody else.
            return LocalDateTime.of(
                            year(year, now),
                            MONTHS.indexOf(month) + 1,
                            number(day),
                            number(clock[0]),
                            number(clock[1]),
                            Math.min(second, 59))
                    .plusSeconds(second == 60 ? 1 : 0)
                    .toInstant(ZoneOffset.UTC);
        } catch (DateTimeException | NumberFormatException e) {
            return null;
        }
    }

    /** Two digits mean the latest such year that is not more than 50 years ahead. */
    private static int year(String text, Instant now) {
        int year = number(text);
        if (text.length() != 2) {
            return year;
        }
        int latest = now.atZone(ZoneOffset.UTC).getYear() + 50;
        return latest - Math.floorMod(latest - year, 100);
    }

    private static int number(@Nullable String digits) {
        return digits == null ? 0 : Integer.parseInt(digits);
    }

    private static boolean isUtc(String zone) {
        return zone.equals("gmt") || zone.equals("utc") || zone.equals("+0000");
    }

    private static List<String> words(String text) {
        List<String> words = new ArrayList<>();
        int start = -1;
        for (int i = 0; i <= text.length(); i++) {
            boolean between = i == text.length() || " ,-".indexOf(text.charAt(i)) >= 0;
            if (!between && start < 0) {
                start = i;
            } else if (between && start >= 0) {
                words.add(text.substring(start, i));
                start = -1;
            }
        }
        return words;
    }
}
