package io.sluice;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Durations as policies write them: a whole number with a unit, such as {@code 250ms}, {@code 5s}, {@code 10m}. */
final class Durations {
    private static final Pattern TEXT = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

    private Durations() {}

    /** The duration, or {@code null} if the text is none. */
    static @Nullable Duration parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            return null;
        }
        long count = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(count);
            case "s" -> Duration.ofSeconds(count);
            case "m" -> Duration.ofMinutes(count);
            case "h" -> Duration.ofHours(count);
            default -> Duration.ofDays(count);
        };
    }

    /** The shortest text that {@link #parse} reads as this duration; whole milliseconds only. */
    static String text(Duration duration) {
        long ms = duration.toMillis();
        if (ms == 0) {
            return "0s";
        }
        if (ms % 86_400_000 == 0) {
            return ms / 86_400_000 + "d";
        }
        if (ms % 3_600_000 == 0) {
            return ms / 3_600_000 + "h";
        }
        if (ms % 60_000 == 0) {
            return ms / 60_000 + "m";
        }
        return ms % 1_000 == 0 ? ms / 1_000 + "s" : ms + "ms";
    }
}
