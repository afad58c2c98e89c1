package io.sluice.testbed.emulator;

import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Models that share one set of limits: their counters and what is in flight. */
final class Pool {
    final String name;
    int inFlight;

    private final Limits limits;
    private final Map<Kind, Counter> counters = new EnumMap<>(Kind.class);

    Pool(String name, EmulatorOptions options) {
        this(name, options, Dialect.of(options).rules());
    }

    Pool(String name, EmulatorOptions options, Rules rules) {
        this.name = name;
        this.limits = options.limits();
        for (Kind kind : Kind.RATES) {
            Long limit = limits.of(kind);
            if (limit != null) {
                counters.put(
                        kind,
                        kind.isDaily()
                                ? daily(limit, rules)
                                : options.counting().counter(kind, limit, options.burst()));
            }
        }
    }

    private static Counter daily(long limit, Rules rules) {
        return rules.dayRefills() ? Bucket.ofDay(limit) : Calendar.ofDay(limit, rules.day());
    }

    /** The first limit a call is short of, with the longest wait of all: before that it would be rejected again. */
    @Nullable
    Denial denial(Call call, long nowUs) {
        Kind shortOf = null;
        long waitUs = 0;
        for (Kind kind : Kind.RATES) {
            long kindWaitUs = waitFor(kind, call, nowUs);
            if (kindWaitUs > 0 && shortOf == null) {
                shortOf = kind;
            }
            waitUs = Math.max(waitUs, kindWaitUs);
        }
        Counter counter = shortOf == null ? null : counters.get(shortOf);
        // Closed for good: no wait opens it.
        boolean closed = shortOf != null && limit(shortOf) == 0;
        return shortOf == null || counter == null
                ? null
                : new Denial.Rate(
                        shortOf, limit(shortOf), counter.remaining(nowUs), amount(shortOf, call), closed ? 0 : waitUs);
    }

    /** Output is not known beforehand: it only asks that the limit is not used up. */
    private long waitFor(Kind kind, Call call, long nowUs) {
        Counter counter = counters.get(kind);
        if (counter == null) {
            return 0;
        }
        return kind == Kind.OUTPUT ? counter.waitForRoom(nowUs) : counter.waitFor(amount(kind, call), nowUs);
    }

    /** What a call takes of a limit when it begins. */
    private static long amount(Kind kind, Call call) {
        return switch (kind) {
            case REQUESTS, DAILY_REQUESTS -> 1;
            case INPUT -> call.counted();
            case TOKENS, DAILY_TOKENS -> call.charged();
            default -> 0;
        };
    }

    @Nullable
    Denial fullHouse() {
        Long slots = limits.concurrency();
        return slots == null || inFlight < slots ? null : new Denial.Slots(slots);
    }

    boolean hasRequestLeft(long nowUs) {
        Counter requests = counters.get(Kind.REQUESTS);
        return requests == null || requests.waitFor(1, nowUs) == 0;
    }

    /** Takes what a call takes when it begins. */
    void begin(Call call, long nowUs) {
        for (Kind kind : Kind.RATES) {
            book(kind, amount(kind, call), nowUs);
        }
        inFlight++;
    }

    void book(Kind kind, long amount, long nowUs) {
        Counter counter = counters.get(kind);
        if (counter != null) {
            counter.book(amount, nowUs);
        }
    }

    /** The provider's next day begins at this instant. */
    void newDayAt(long us) {
        for (Counter counter : counters.values()) {
            if (counter instanceof Calendar calendar) {
                calendar.turnAt(us);
            }
        }
    }

    Standing standing(PlanWindows.@Nullable Seen plan, long nowUs) {
        Map<Kind, Standing.Level> levels = new EnumMap<>(Kind.class);
        counters.forEach((kind, counter) -> levels.put(
                kind,
                new Standing.Level(limit(kind), counter.remaining(nowUs), Enforcer.instant(counter.freeAt(nowUs)))));
        return new Standing(Enforcer.instant(nowUs), levels, plan);
    }

    /** The limit of a kind that has one. */
    private long limit(Kind kind) {
        Long limit = limits.of(kind);
        if (limit == null) {
            throw new IllegalArgumentException(kind + " is not limited");
        }
        return limit;
    }
}
