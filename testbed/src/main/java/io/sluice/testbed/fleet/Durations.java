package io.sluice.testbed.fleet;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them. */
public final class Durations {
    private static final Pattern TEXT = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)?");

    private Durations() {}

    /**
     * Reads {@code 250ms}, {@code 30s}, {@code 5m}, {@code 2h}, {@code 7d}; a bare number is seconds.
     *
     * @throws IllegalArgumentException if the text is nothing of the kind, naming it
     */
    public static Duration parse(String text) {
        Matcher matcher = TEXT.matcher(text.strip());
        if (!matcher.matches()) {
            throw new IllegalArgumentException("a duration looks like 30s or 5m, got '" + text + "'");
        }
        long amount = Long.parseLong(matcher.group(1));
        String unit = matcher.group(2) == null ? "s" : matcher.group(2);
        return switch (unit) {
            case "ms" -> Duration.ofMillis(amount);
            case "m" -> Duration.ofMinutes(amount);
            case "h" -> Duration.ofHours(amount);
            case "d" -> Duration.ofDays(amount);
            default -> Duration.ofSeconds(amount);
        };
    }
}
