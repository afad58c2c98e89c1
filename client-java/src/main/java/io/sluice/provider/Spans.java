package io.sluice.provider;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Lengths of time as providers write them, in whole milliseconds, rounded up: {@code 6ms}, {@code 7m12s},
 * {@code 1m12.172s}, {@code 45.811974541s}, {@code 20 seconds}. A bare number is seconds. Negative or junk is
 * {@code null}, never zero.
 */
final class Spans {
    /** What absurd lengths are cut to, so that sums stay in range. */
    static final Duration MAX = Duration.ofDays(36_500);

    private static final int MAX_LENGTH = 64;
    private static final int MAX_DIGITS = 15;
    private static final BigDecimal NANOS_PER_MILLI = BigDecimal.valueOf(1_000_000);
    private static final long SECOND = 1_000_000_000L;
    private static final Map<String, Long> UNITS = Map.ofEntries(
            Map.entry("ns", 1L),
            Map.entry("us", 1_000L),
            Map.entry("\u00b5s", 1_000L),
            Map.entry("\u03bcs", 1_000L),
            Map.entry("ms", 1_000_000L),
            Map.entry("s", SECOND),
            Map.entry("m", 60 * SECOND),
            Map.entry("h", 3_600 * SECOND),
            Map.entry("d", 86_400 * SECOND));
    /** Only in prose; the longest first, so that "min" is not read as "m". */
    private static final Map<String, Long> WORDS = Map.ofEntries(
            Map.entry("millisecond", 1_000_000L),
            Map.entry("milliseconds", 1_000_000L),
            Map.entry("sec", SECOND),
            Map.entry("secs", SECOND),
            Map.entry("second", SECOND),
            Map.entry("seconds", SECOND),
            Map.entry("min", 60 * SECOND),
            Map.entry("mins", 60 * SECOND),
            Map.entry("minute", 60 * SECOND),
            Map.entry("minutes", 60 * SECOND),
            Map.entry("hr", 3_600 * SECOND),
            Map.entry("hrs", 3_600 * SECOND),
            Map.entry("hour", 3_600 * SECOND),
            Map.entry("hours", 3_600 * SECOND),
            Map.entry("day", 86_400 * SECOND),
            Map.entry("days", 86_400 * SECOND));

    private final String text;
    private int at;
    private BigDecimal nanos = BigDecimal.ZERO;

    private Spans(String text, int at) {
        this.text = text;
        this.at = at;
    }

    /** All of the text: a bare number of seconds, or numbers with units. */
    static @Nullable Duration parse(@Nullable String text) {
        if (text == null || text.isBlank() || text.strip().length() > MAX_LENGTH) {
            return null;
        }
        Duration seconds = number(text, SECOND);
        if (seconds != null) {
            return seconds;
        }
        Spans spans = new Spans(text.strip().toLowerCase(Locale.ROOT), 0);
        boolean any = false;
        while (spans.part(false)) {
            any = true;
        }
        return any && spans.at == spans.text.length() ? spans.length() : null;
    }

    /** A bare number of seconds, decimals allowed. */
    static @Nullable Duration seconds(@Nullable String text) {
        return text == null ? null : number(text, SECOND);
    }

    /** A bare number of milliseconds, decimals allowed. */
    static @Nullable Duration millis(@Nullable String text) {
        return text == null ? null : number(text, SECOND / 1_000);
    }

    /** The length that follows one of the phrases in a sentence: {@code Please try again in 7m12s.} */
    static @Nullable Duration after(String sentence, String... phrases) {
        String text = sentence.toLowerCase(Locale.ROOT);
        for (String phrase : phrases) {
            for (int from = text.indexOf(phrase); from >= 0; from = text.indexOf(phrase, from + 1)) {
                Spans spans = new Spans(text, from + phrase.length());
                spans.blanks();
                boolean any = false;
                while (spans.part(true)) {
                    any = true;
                }
                if (any) {
                    return spans.length();
                }
            }
        }
        return null;
    }

    private static @Nullable Duration number(String text, long unitNanos) {
        Spans spans = new Spans(text.strip(), 0);
        BigDecimal number = spans.number();
        if (number == null || spans.at != spans.text.length()) {
            return null;
        }
        spans.nanos = number.multiply(BigDecimal.valueOf(unitNanos));
        return spans.length();
    }

    /** One number with its unit; if there is none, nothing is read. */
    private boolean part(boolean prose) {
        int start = at;
        if (prose && nanos.signum() > 0) {
            blanks();
        }
        BigDecimal number = number();
        if (number != null) {
            if (prose) {
                blanks();
            }
            Long unit = unit(prose);
            if (unit != null) {
                nanos = nanos.add(number.multiply(BigDecimal.valueOf(unit)));
                return true;
            }
        }
        at = start;
        return false;
    }

    private @Nullable BigDecimal number() {
        int start = at;
        digits();
        if (at == start) {
            return null;
        }
        int whole = at - start;
        int end = at;
        if (at + 1 < text.length() && text.charAt(at) == '.' && digit(at + 1)) {
            at++;
            digits();
            end = Math.min(at, start + whole + 1 + MAX_DIGITS);
        }
        return whole > MAX_DIGITS ? BigDecimal.TEN.pow(MAX_DIGITS) : new BigDecimal(text.substring(start, end));
    }

    private @Nullable Long unit(boolean prose) {
        int end = at;
        while (end < text.length() && end - at < 12 && Character.isLetter(text.charAt(end))) {
            end++;
        }
        String letters = text.substring(at, end);
        Long unit = UNITS.get(letters);
        if (unit == null && prose) {
            unit = WORDS.get(letters);
        }
        if (unit != null) {
            at = end;
        }
        return unit;
    }

    private void digits() {
        while (digit(at)) {
            at++;
        }
    }

    private boolean digit(int index) {
        return index < text.length() && text.charAt(index) >= '0' && text.charAt(index) <= '9';
    }

    private void blanks() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
    }

    private Duration length() {
        BigDecimal millis = nanos.divide(NANOS_PER_MILLI, 0, RoundingMode.CEILING);
        return millis.compareTo(BigDecimal.valueOf(MAX.toMillis())) > 0 ? MAX : Duration.ofMillis(millis.longValue());
    }
}
