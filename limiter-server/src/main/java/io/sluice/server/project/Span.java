package io.sluice.server.project;

import io.sluice.Admin.By;
import io.sluice.Admin.Step;
import io.sluice.server.problem.Problem;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Which usage is asked for.
 *
 * @param to not included
 */
record Span(Instant from, Instant to, Step step, By by) {
    private static final Duration HOURS_SHOWN = Duration.ofHours(24);
    private static final Duration DAYS_SHOWN = Duration.ofDays(30);

    /**
     * As asked; by default the last 24 hours, or 30 days, by team.
     *
     * @throws Problem 400 naming what is wrong
     */
    static Span of(
            @Nullable String from, @Nullable String to, @Nullable String step, @Nullable String by, Instant now) {
        Step steps = word("step", step, Step.class, Step.HOUR);
        // The hour or day that is under way is told too.
        Instant end = to == null ? now.plusSeconds(1) : instant("to", to);
        Instant start = from == null ? end.minus(steps == Step.HOUR ? HOURS_SHOWN : DAYS_SHOWN) : instant("from", from);
        if (!start.isBefore(end)) {
            throw Problem.invalid("/from", "must be before to");
        }
        return new Span(start, end, steps, word("by", by, By.class, By.TEAM));
    }

    private static Instant instant(String name, String text) {
        try {
            return text.length() == 10
                    ? LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant()
                    : java.time.OffsetDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            throw Problem.invalid("/" + name, "must be an instant such as 2026-11-30T12:00:00Z, or a date");
        }
    }

    private static <E extends Enum<E>> E word(String name, @Nullable String text, Class<E> words, E otherwise) {
        if (text == null) {
            return otherwise;
        }
        for (E word : words.getEnumConstants()) {
            if (word.name().toLowerCase(Locale.ROOT).equals(text)) {
                return word;
            }
        }
        StringBuilder known = new StringBuilder();
        for (E word : words.getEnumConstants()) {
            known.append(known.isEmpty() ? "" : " or ").append(word.name().toLowerCase(Locale.ROOT));
        }
        throw Problem.invalid("/" + name, "must be " + known);
    }
}
