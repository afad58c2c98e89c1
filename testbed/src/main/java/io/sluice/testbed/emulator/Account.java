package io.sluice.testbed.emulator;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What holds whatever the pool: money, plan windows, overload, and how fast use may rise. Belongs to the {@link Enforcer}
 * and its lock.
 */
final class Account {
    private static final long TEN_MINUTES_US = 600_000_000L;
    private static final long NANOS_A_MICRO = 1_000;

    private final Rules rules;
    private final Prices prices;
    private final @Nullable Long usdMicros;

    private Behaviour behaviour = Behaviour.NONE;
    private @Nullable Counter purse;
    private @Nullable PlanWindows plan;
    private final Map<Pool, Ascent> ascents = new HashMap<>();
    private final Spread overloaded = new Spread();
    private final Spread broken = new Spread();
    private long overloadSetUs;
    private long spentNanos;

    Account(Rules rules, EmulatorOptions options, long nowUs) {
        this.rules = rules;
        this.prices = options.prices();
        this.usdMicros = options.limits().usdMicros();
        this.purse = purse(behaviour.spend);
        behave(options.behaviour(), nowUs);
    }

    /** What a behaviour has counted is forgotten when that behaviour is set anew, not when another is. */
    void behave(Behaviour next, long nowUs) {
        if (rules.spendAs(next.spend) != rules.spendAs(behaviour.spend)) {
            purse = purse(next.spend);
        }
        if (next.set.contains("plan")) {
            plan = next.plan == null ? null : new PlanWindows(next.plan, nowUs);
        }
        if (next.set.contains("acceleration")) {
            ascents.clear();
        }
        if (next.set.contains("overload")) {
            overloadSetUs = nowUs;
            overloaded.clear();
        }
        if (next.set.contains("stream-error")) {
            broken.clear();
        }
        behaviour = next.settled();
    }

    Behaviour behaviour() {
        return behaviour;
    }

    /** Dollars spent, in billionths. */
    long spentNanos() {
        return spentNanos;
    }

    PlanWindows.@Nullable Seen plan(long nowUs) {
        return plan == null ? null : plan.see(nowUs);
    }

    /** What turns a call away whatever its size; asked once a call. */
    @Nullable
    Denial denial(long nowUs) {
        Denial denial = busy(nowUs);
        if (denial == null) {
            denial = noMoney(nowUs);
        }
        return denial == null ? planUsedUp(nowUs) : denial;
    }

    private @Nullable Denial busy(long nowUs) {
        Overload overload = behaviour.overload;
        if (overload == null || !overload.onAfter(Duration.ofNanos((nowUs - overloadSetUs) * 1_000))) {
            return null;
        }
        return overloaded.hits(overload.share()) ? new Denial.Busy(overload.status(), overload.retryAfter()) : null;
    }

    private @Nullable Denial noMoney(long nowUs) {
        long waitUs = purse == null ? 0 : purse.waitForRoom(nowUs);
        if (waitUs == 0 && !behaviour.spend.spent()) {
            return null;
        }
        Spend.As as = rules.spendAs(behaviour.spend);
        Instant now = Enforcer.instant(nowUs);
        Instant until = switch (as) {
            case CAP, OWN -> Calendar.nextMonth(now);
            case CREDITS -> null;
            case WINDOW -> Enforcer.instant(nowUs + (waitUs == 0 ? TEN_MINUTES_US : waitUs));
        };
        return new Denial.NoMoney(
                as, until, until == null ? 0 : Duration.between(now, until).toNanos() / 1_000);
    }

    private @Nullable Denial planUsedUp(long nowUs) {
        PlanWindows.Seen seen = plan(nowUs);
        if (seen == null || !seen.deciding().isUsedUp()) {
            return null;
        }
        Duration wait = Duration.between(seen.at(), seen.deciding().resetAt());
        return new Denial.PlanUsedUp(seen, wait.toNanos() / 1_000);
    }

    /** Whether a call that keeps every limit comes too soon after too little. */
    @Nullable
    Denial tooSteep(Call call, Pool pool, long nowUs) {
        Ascent ascent = ascent(pool);
        long waitUs = ascent == null ? 0 : ascent.waitFor(call, nowUs);
        return ascent == null || waitUs == 0 ? null : ascent.denial(waitUs);
    }

    void accepted(Call call, Pool pool, long nowUs) {
        Ascent ascent = ascent(pool);
        if (ascent != null) {
            ascent.book(call, nowUs);
        }
        if (plan != null) {
            plan.book(call.input() + call.cacheWrite(), nowUs);
        }
        spend(prices.of(call).input(call), nowUs);
    }

    void produced(Call call, long tokens, long nowUs) {
        if (plan != null) {
            plan.book(tokens, nowUs);
        }
        spend(prices.of(call).output(tokens), nowUs);
    }

    private void spend(long nanos, long nowUs) {
        spentNanos += nanos;
        if (purse != null) {
            purse.book(nanos, nowUs);
        }
    }

    /** How the stream of a call that was just accepted will fail, if it will. */
    @Nullable
    StreamError streamError(Call call) {
        StreamError error = behaviour.streamError;
        return error != null && call.streams() && broken.hits(error.share()) ? error : null;
    }

    private @Nullable Ascent ascent(Pool pool) {
        Acceleration rule = behaviour.acceleration;
        return rule == null ? null : ascents.computeIfAbsent(pool, p -> new Ascent(rule));
    }

    private @Nullable Counter purse(Spend spend) {
        if (usdMicros == null) {
            return null;
        }
        long nanos = usdMicros * NANOS_A_MICRO;
        return switch (rules.spendAs(spend)) {
            case CAP, OWN -> Calendar.ofMonth(nanos);
            case CREDITS -> Calendar.endless(nanos);
            case WINDOW -> new Rolling(nanos, TEN_MINUTES_US);
        };
    }

    /** Spreads a share evenly over what comes: of 0.25 every fourth. */
    private static final class Spread {
        private double due;

        boolean hits(double share) {
            due += share;
            // A hair less than one: ten times 0.1 is not quite 1.
            if (due < 1 - 1e-9) {
                return false;
            }
            due -= 1;
            return true;
        }

        void clear() {
            due = 0;
        }
    }
}
