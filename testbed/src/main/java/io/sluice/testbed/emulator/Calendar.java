package io.sluice.testbed.emulator;

import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.function.LongUnaryOperator;

/** A sum that starts over at each turn of a calendar: of the day in a zone, of the month. */
final class Calendar implements Counter {
    private static final long DAY_US = 86_400_000_000L;

    private final long limit;
    private LongUnaryOperator turns;
    private long turnUs = Long.MIN_VALUE;
    private long used;

    /** @param turns the first turn after an instant */
    private Calendar(long limit, LongUnaryOperator turns) {
        this.limit = limit;
        this.turns = turns;
    }

    /** Starts over at midnight there, whether the day has 23, 24 or 25 hours. */
    static Calendar ofDay(long limit, ZoneId zone) {
        return new Calendar(
                limit,
                nowUs -> us(Enforcer.instant(nowUs)
                        .atZone(zone)
                        .toLocalDate()
                        .plusDays(1)
                        .atStartOfDay(zone)
                        .toInstant()));
    }

    /** Starts over on the first of the month, 00:00 UTC. */
    static Calendar ofMonth(long limit) {
        return new Calendar(limit, nowUs -> us(nextMonth(Enforcer.instant(nowUs))));
    }

    /** Never starts over. */
    static Calendar endless(long limit) {
        return new Calendar(limit, nowUs -> Long.MAX_VALUE);
    }

    static Instant nextMonth(Instant now) {
        return YearMonth.from(now.atZone(ZoneOffset.UTC))
                .plusMonths(1)
                .atDay(1)
                .atStartOfDay(ZoneOffset.UTC)
                .toInstant();
    }

    /** For tests that cannot wait for midnight: turns at this instant, and every 24 hours after it. */
    void turnAt(long us) {
        turnUs = us;
        turns = nowUs -> us + (Math.floorDiv(nowUs - us, DAY_US) + 1) * DAY_US;
    }

    @Override
    public long waitFor(long amount, long nowUs) {
        roll(nowUs);
        return used + amount <= limit ? 0 : turnUs - nowUs;
    }

    @Override
    public long waitForRoom(long nowUs) {
        roll(nowUs);
        return used < limit ? 0 : turnUs - nowUs;
    }

    @Override
    public void book(long amount, long nowUs) {
        roll(nowUs);
        used += amount;
    }

    @Override
    public long remaining(long nowUs) {
        roll(nowUs);
        return Math.max(0, limit - used);
    }

    @Override
    public long freeAt(long nowUs) {
        roll(nowUs);
        return used == 0 ? nowUs : turnUs;
    }

    private void roll(long nowUs) {
        if (turnUs == Long.MIN_VALUE) {
            turnUs = turns.applyAsLong(nowUs);
        } else if (nowUs >= turnUs) {
            used = 0;
            turnUs = turns.applyAsLong(nowUs);
        }
    }

    private static long us(Instant instant) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    }
}
