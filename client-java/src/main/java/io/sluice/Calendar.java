package io.sluice;

import io.sluice.LimitSpec.Window;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the windows of calendar limits begin and end: at each minute, hour, day or month of a zone.
 *
 * <p>The scripts know no zones, so they are told: when the zone's clocks change and by how much, for the years 2000 to
 * 2099, as Java's time zone data has it. After that the last offset stays.
 *
 * @param unit minute, hour, day or month
 */
record Calendar(String unit, ZoneId zone) {
    private static final Instant FROM = Instant.parse("2000-01-01T00:00:00Z");
    private static final Instant UNTIL = Instant.parse("2100-01-01T00:00:00Z");

    static Calendar of(LimitSpec limit) {
        if (limit.window() != Window.CALENDAR || limit.zone() == null) {
            throw new IllegalArgumentException(limit.name() + " does not follow the calendar");
        }
        return new Calendar(unit(limit.period()), limit.zone());
    }

    /** Those of a policy, each once, in the order of the document. */
    static List<Calendar> of(List<ScopeSpec> scopes) {
        return scopes.stream()
                .flatMap(scope -> scope.limits().stream())
                .filter(limit -> limit.window() == Window.CALENDAR)
                .map(Calendar::of)
                .distinct()
                .toList();
    }

    private static String unit(@Nullable Duration period) {
        if (period == null) {
            return "month";
        }
        return period.compareTo(Duration.ofHours(1)) > 0
                ? "day"
                : period.compareTo(Duration.ofMinutes(1)) > 0 ? "hour" : "minute";
    }

    /** As the scripts read it: {@code unit zone offset [from offset ...]}, in seconds. */
    String text() {
        ZoneRules rules = zone.getRules();
        StringBuilder text = new StringBuilder(
                unit + " " + zone.getId() + " " + rules.getOffset(FROM).getTotalSeconds());
        ZoneOffsetTransition next = rules.nextTransition(FROM);
        while (next != null && next.getInstant().isBefore(UNTIL)) {
            text.append(' ')
                    .append(next.toEpochSecond())
                    .append(' ')
                    .append(next.getOffsetAfter().getTotalSeconds());
            next = rules.nextTransition(next.getInstant());
        }
        return text.toString();
    }
}
