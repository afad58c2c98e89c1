package io.sluice.server.project;

import io.sluice.Admin.Used;
import io.sluice.Status;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** When the money is gone, if it goes on as in the last 24 hours. Pure. */
final class Forecast {
    static final Duration LOOKS_BACK = Duration.ofHours(24);

    private Forecast() {}

    /**
     * What a limit in money comes to.
     *
     * @param spent in its window so far
     * @param perHour what was spent an hour in the last 24
     * @param exhaustedAt when nothing is left; {@code null} if not before it resets, or nothing is spent
     * @param resetMs until its window begins anew
     */
    record Outlook(
            String scope,
            String limit,
            BigDecimal amount,
            BigDecimal spent,
            BigDecimal perHour,
            @Nullable Instant exhaustedAt,
            long resetMs) {}

    /**
     * Of the project's limits in money and of those of its teams.
     *
     * @param byTeam what teams used, by hours of the last 24
     */
    static List<Outlook> of(List<Status.Limit> limits, List<Used> byTeam, Instant now) {
        return limits.stream()
                .filter(limit -> limit.limit().equals("usd"))
                .filter(limit -> limit.scope().equals("p") || limit.scope().matches("t:[^|]+"))
                .map(limit -> outlook(limit, byTeam, now))
                .toList();
    }

    private static Outlook outlook(Status.Limit limit, List<Used> byTeam, Instant now) {
        String team = limit.scope().equals("p") ? null : limit.scope().substring(2);
        BigDecimal perHour = BigDecimal.valueOf(
                        byTeam.stream()
                                .filter(row -> team == null || row.name().equals(team))
                                .mapToLong(Used::microUsd)
                                .sum(),
                        6)
                .divide(BigDecimal.valueOf(LOOKS_BACK.toHours()), 6, RoundingMode.HALF_UP);
        BigDecimal left = Numbers.plain(limit.level());
        Instant gone = null;
        if (limit.level() <= 0) {
            gone = now;
        } else if (perHour.signum() > 0) {
            long ms = left.multiply(BigDecimal.valueOf(Duration.ofHours(1).toMillis()))
                    .divide(perHour, 0, RoundingMode.DOWN)
                    .min(BigDecimal.valueOf(Duration.ofDays(36_500).toMillis()))
                    .longValue();
            gone = limit.resetMs() > 0 && ms >= limit.resetMs() ? null : now.plusMillis(ms);
        }
        return new Outlook(
                limit.scope(),
                limit.limit(),
                Numbers.plain(limit.amount()),
                Numbers.plain(limit.amount()).subtract(left),
                perHour,
                gone,
                limit.resetMs());
    }
}
