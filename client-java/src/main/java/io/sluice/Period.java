package io.sluice;

import io.sluice.LimitSpec.Window;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The time a limit is over, as {@code per} says it.
 *
 * @param text its normal form
 * @param duration its length; {@code null} for a month
 */
record Period(String text, @Nullable Duration duration) {
    static final String SHAPE = "minute, hour, day, month, or a duration from 1s to 366d such as 5h";
    static final Period MINUTE = new Period("minute", Duration.ofMinutes(1));
    static final Period HOUR = new Period("hour", Duration.ofHours(1));
    static final Period DAY = new Period("day", Duration.ofDays(1));
    static final Period MONTH = new Period("month", null);
    private static final List<Period> CALENDAR = List.of(MINUTE, HOUR, DAY, MONTH);

    /** The period, or {@code null} if the text is none. One minute and one hour are the words for them; a day is more than 24 h. */
    static @Nullable Period of(String text) {
        for (Period word : CALENDAR) {
            if (word.text.equals(text)) {
                return word;
            }
        }
        Duration duration = Durations.parse(text);
        if (duration == null
                || duration.compareTo(Duration.ofSeconds(1)) < 0
                || duration.compareTo(Duration.ofDays(366)) > 0) {
            return null;
        }
        if (duration.equals(MINUTE.duration)) {
            return MINUTE;
        }
        return duration.equals(HOUR.duration) ? HOUR : new Period(Durations.text(duration), duration);
    }

    /** Whether the calendar has boundaries for it. */
    boolean isCalendar() {
        return CALENDAR.contains(this);
    }

    /** How it counts where the limit does not say: short ones refill, days and months follow the calendar, others roll. */
    Window window() {
        if (duration != null && duration.compareTo(Duration.ofHours(1)) <= 0) {
            return Window.REFILL;
        }
        return isCalendar() ? Window.CALENDAR : Window.ROLLING;
    }
}
