package io.sluice;

import java.time.ZoneId;
import java.util.List;

/** Lets tests of other packages write calendars as a policy does. */
public final class CalendarTexts {
    private CalendarTexts() {}

    /** Each of {@code "day America/Los_Angeles"}: a unit and a zone. */
    public static List<String> of(String... calendars) {
        return List.of(calendars).stream().map(CalendarTexts::text).toList();
    }

    private static String text(String calendar) {
        String[] words = calendar.split(" ", 2);
        return new Calendar(words[0], ZoneId.of(words[1])).text();
    }
}
