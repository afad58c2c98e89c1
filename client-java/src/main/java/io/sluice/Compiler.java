package io.sluice;

import io.sluice.RefillLimit.Finds;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A policy's limits in the whole numbers the scripts count with. Pure functions of the policy, decimals throughout.
 *
 * <p>A script's only number is a double, exact for whole numbers below 2^53. So nothing is ever a fraction: costs are
 * counted in 1/u of the amount, where u makes every weight whole; time in ticks, coarser for longer periods; and a
 * level in units so fine that one tick refills a whole number of them. What counts by windows does not refill: its level is
 * in units of cost.
 *
 * <p>Example: 55 requests a minute at headroom 0.9 are 49.5 in 60,000,000 ticks of 1 µs. Ten times finer, that is a rate
 * of 495 level units a tick where one request takes a factor of 600,000,000.
 */
final class Compiler {
    private static final BigInteger MAX_EXACT = BigInteger.valueOf(Weights.MAX_EXACT);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** A month, where only about how long one is matters. */
    private static final Duration MONTH = Duration.ofDays(30);

    /** How much finer limits count of which only a part may be in force: as many decimals as stay exact, and no more. */
    private static final int FINER = 4;

    /** How many times its policy's amount an adopted one may be and still be exact. */
    private static final long ADOPTED_AT_MOST = 1_000;

    private static final int ROLLING_SLOTS = 60;
    static final String AGENTS_PER_MINUTE = "agents_per_minute";

    private Compiler() {}

    /** Every scope of the policy by its name, the project first. */
    static Map<String, ScopeLimits> scopes(Policy.Spec policy) {
        Map<String, ScopeLimits> scopes = new LinkedHashMap<>();
        List<Calendar> calendars = Calendar.of(policy.scopes());
        for (ScopeSpec spec : policy.scopes()) {
            if (spec.isKept()) {
                scopes.put(spec.scope(), scope(spec, policy, calendars));
            }
        }
        List<RefillLimit> joining = joining(policy.ramp());
        for (ScopeSpec spec : policy.scopes()) {
            boolean isProject = spec.scope().equals(ScopeSpec.PROJECT);
            LimitSpec agents = spec.agents();
            List<RefillLimit> refills = isProject ? joining : List.of();
            if (agents != null || !refills.isEmpty()) {
                String name = ScopeSpec.agentsOf(spec.scope());
                scopes.put(
                        name, new ScopeLimits(name, agents == null ? ScopeLimits.UNLIMITED : slots(agents), refills));
            }
        }
        return Collections.unmodifiableMap(scopes);
    }

    /** How fast agents may join: one at a time. */
    private static List<RefillLimit> joining(@Nullable Ramp ramp) {
        if (ramp == null || ramp.agentsPerMinute() == null) {
            return List.of();
        }
        long agents = ramp.agentsPerMinute();
        long minute = micros(MINUTE);
        Weights once = new Weights(1, 1, 0, 0, 0, 0);
        return List.of(
                new RefillLimit(AGENTS_PER_MINUTE, agents, minute, 1, minute, agents, minute, agents, agents, once));
    }

    /** Those of {@code scopes} one call draws on, in the order the scripts expect, with the weights of its model. */
    static List<ScopeLimits> scopesOf(
            Policy.Spec policy,
            Map<String, ScopeLimits> scopes,
            @Nullable ModelClass modelClass,
            String model,
            @Nullable String workspace,
            @Nullable String team) {
        List<ScopeLimits> found = new ArrayList<>();
        List<ScopeLimits> counting = new ArrayList<>();
        for (String name : modelClass == null ? List.of(ScopeSpec.PROJECT) : names(modelClass, workspace, team)) {
            ScopeLimits scope = scopes.get(name);
            if (scope != null) {
                found.add(weighed(scope, policy.limitsOf(name), model));
            }
            ScopeLimits agents = modelClass == null ? null : scopes.get(ScopeSpec.agentsOf(name));
            if (agents != null) {
                counting.add(agents);
            }
        }
        found.addAll(counting);
        return found;
    }

    /** All that a call could draw on. */
    private static List<String> names(ModelClass modelClass, @Nullable String workspace, @Nullable String team) {
        List<String> parts = new ArrayList<>(List.of(ScopeSpec.PROJECT));
        if (workspace != null) {
            parts.add(ScopeSpec.workspace(workspace));
        }
        if (team != null) {
            parts.add(ScopeSpec.team(team));
        }
        List<String> names = new ArrayList<>();
        for (String part : parts) {
            names.add(part);
            names.add(ScopeSpec.scope(part, modelClass.name()));
        }
        names.addAll(List.of(ScopeSpec.EACH_AGENT, ScopeSpec.EACH_TEAM, ScopeSpec.EACH_RUN));
        return names;
    }

    private static ScopeLimits scope(ScopeSpec spec, Policy.Spec policy, List<Calendar> calendars) {
        Ramp ramp = isRamped(spec) ? policy.ramp() : null;
        long slots = ScopeLimits.UNLIMITED;
        List<RefillLimit> refills = new ArrayList<>();
        for (LimitSpec limit : spec.limits()) {
            switch (limit.window()) {
                case IN_FLIGHT -> slots = limit.countsAgents() ? slots : slots(limit);
                case REFILL -> refills.add(refill(limit, policy, ramp != null));
                case CALENDAR -> refills.add(calendar(limit, calendars.indexOf(Calendar.of(limit)) + 1));
                case ROLLING -> refills.add(rolling(limit));
            }
        }
        return ramp == null
                ? new ScopeLimits(spec.scope(), slots, spec.max(), refills)
                : new ScopeLimits(spec.scope(), slots, spec.max(), ramp.fromPpm(), ramp.everyUs(), refills);
    }

    /** A ramp is for what the provider counts by the minute: classes. */
    private static boolean isRamped(ScopeSpec spec) {
        return spec.scope().startsWith("c:")
                && spec.limits().stream()
                        .anyMatch(limit -> limit.window() == LimitSpec.Window.REFILL
                                && Objects.requireNonNull(limit.period()).compareTo(MINUTE) <= 0);
    }

    private static long slots(LimitSpec limit) {
        return Objects.requireNonNull(limit.amount()).longValueExact();
    }

    private static ScopeLimits weighed(ScopeLimits scope, List<LimitSpec> limits, String model) {
        if (limits.stream().allMatch(limit -> limit.weightsFor().isEmpty())) {
            return scope;
        }
        List<RefillLimit> refills = new ArrayList<>();
        for (RefillLimit refill : scope.refills()) {
            LimitSpec limit = limits.stream()
                    .filter(spec -> spec.name().equals(refill.name()))
                    .findFirst()
                    .orElseThrow();
            refills.add(refill.withWeights(limit.weightsOf(model).scaled(limit.decimals())));
        }
        return new ScopeLimits(scope.scope(), scope.slots(), scope.max(), scope.rampPpm(), scope.everyUs(), refills);
    }

    /**
     * One limit that refills.
     *
     * @throws IllegalArgumentException if it cannot be counted exactly, saying which amounts can
     */
    static RefillLimit refill(LimitSpec limit, Policy.Spec policy) {
        return refill(limit, policy, false);
    }

    private static RefillLimit refill(LimitSpec limit, Policy.Spec policy, boolean isRamped) {
        Duration period = Objects.requireNonNull(limit.period());
        BigDecimal headroom = headroom(limit, policy);
        Duration burst = burst(limit, policy);
        Duration span = span(limit, policy);
        long tickUs = tickUs(period);
        long periodTicks = micros(period) / tickUs;
        int decimals = limit.decimals();

        BigDecimal stated = Objects.requireNonNull(limit.amount());
        BigDecimal amount = stated.movePointRight(decimals);
        BigDecimal usable = amount.multiply(headroom);
        int finer = Math.max(0, usable.stripTrailingZeros().scale());
        BigInteger rate = usable.movePointRight(finer).toBigIntegerExact();
        BigInteger factor = BigInteger.valueOf(periodTicks).multiply(BigInteger.TEN.pow(finer));
        BigInteger full = BigInteger.valueOf(periodTicks);
        if (rate.multiply(full).compareTo(MAX_EXACT) > 0) {
            // A level only means rate ÷ factor: without their common divisor much larger amounts are exact.
            BigInteger common = rate.gcd(factor);
            rate = rate.divide(common);
            factor = factor.divide(common);
        }
        if (rate.multiply(full).max(factor).max(amount.toBigInteger()).compareTo(MAX_EXACT) > 0) {
            BigInteger always = alwaysExact(headroom, decimals, periodTicks);
            throw new IllegalArgumentException("cannot be counted exactly below 2^53"
                    + (always.signum() > 0
                            ? "; every whole amount up to " + always + " can"
                            : " with weights of " + decimals + " decimals; a smaller amount or fewer decimals can"));
        }
        boolean isScaled = isRamped || finds(limit) != Finds.NONE;
        boolean canGrow = limit.adopt() && stated.compareTo(LimitSpec.MOST_ADOPTED) < 0;
        BigInteger room = BigInteger.valueOf(canGrow ? ADOPTED_AT_MOST * 10 : 10);
        for (int i = 0; isScaled && i < FINER; i++) {
            BigInteger finest = rate.multiply(full).max(factor).multiply(room);
            if (finest.compareTo(MAX_EXACT) <= 0) {
                rate = rate.multiply(BigInteger.TEN);
                factor = factor.multiply(BigInteger.TEN);
            }
        }
        long burstTicks = Math.max(1, micros(burst) / tickUs);
        RefillLimit whole = new RefillLimit(
                limit.name(),
                rate.longValueExact(),
                factor.longValueExact(),
                tickUs,
                rate.longValueExact() * burstTicks,
                share(usable, span, period),
                micros(span),
                share(amount, span, period),
                Math.min(Weights.MAX_EXACT, Math.max(1, share(amount, MINUTE, period))),
                limit.weights().scaled(decimals));
        return isScaled ? whole.inForce(Math.max(1, limit.startPpm()), finds(limit)) : whole;
    }

    private static Finds finds(LimitSpec limit) {
        return limit.adopt() ? Finds.ADOPT : limit.adaptive() != null ? Finds.ADAPTIVE : Finds.NONE;
    }

    /**
     * One limit by windows of the calendar.
     *
     * @param calendar its place among the policy's, from 1
     * @throws IllegalArgumentException if it cannot be counted exactly
     */
    static RefillLimit calendar(LimitSpec limit, int calendar) {
        Duration about = limit.period() == null ? MONTH : limit.period();
        return windows(limit, about, 0, 0, calendar);
    }

    /**
     * One limit by rolling windows.
     *
     * @throws IllegalArgumentException if it cannot be counted exactly
     */
    static RefillLimit rolling(LimitSpec limit) {
        Duration period = Objects.requireNonNull(limit.period());
        long spanUs = micros(period);
        return windows(limit, period, spanUs, (spanUs + ROLLING_SLOTS - 1) / ROLLING_SLOTS, 0);
    }

    private static RefillLimit windows(LimitSpec limit, Duration period, long spanUs, long widthUs, int calendar) {
        int decimals = limit.decimals();
        BigDecimal amount = Objects.requireNonNull(limit.amount()).movePointRight(decimals);
        BigInteger units = amount.toBigInteger();
        if (units.compareTo(MAX_EXACT) > 0) {
            BigInteger most = MAX_EXACT.divide(BigInteger.TEN.pow(decimals));
            throw new IllegalArgumentException("cannot be counted exactly below 2^53; amounts up to " + most + " can");
        }
        long whole = units.longValueExact();
        return new RefillLimit(
                limit.name(),
                0,
                1,
                1,
                whole,
                whole,
                spanUs,
                whole,
                Math.max(1, share(amount, MINUTE, period)),
                limit.weights().scaled(decimals),
                widthUs,
                calendar,
                RefillLimit.WHOLE,
                Finds.NONE);
    }

    /** What part of its amount a limit uses: only short ones leave room for what the provider counts differently. */
    static BigDecimal headroom(LimitSpec limit, Policy.Spec policy) {
        if (limit.headroom() != null) {
            return limit.headroom();
        }
        return Objects.requireNonNull(limit.period()).compareTo(HOUR) <= 0 ? policy.headroom() : BigDecimal.ONE;
    }

    /** How much refill time a limit's bucket holds: at most its period. */
    static Duration burst(LimitSpec limit, Policy.Spec policy) {
        return shorter(limit.burst() == null ? policy.burst() : limit.burst(), limit);
    }

    /** The time over which the provider counts: the quantum for up to a minute, longer periods as a whole. */
    static Duration span(LimitSpec limit, Policy.Spec policy) {
        Duration period = Objects.requireNonNull(limit.period());
        if (limit.quantum() != null) {
            return shorter(limit.quantum(), limit);
        }
        return period.compareTo(MINUTE) <= 0 ? shorter(policy.quantum(), limit) : period;
    }

    /** The length of a tick for limits of this period. */
    static long tickUs(Duration period) {
        return period.compareTo(HOUR) <= 0 ? 1 : period.compareTo(DAY) <= 0 ? 1_000 : 1_000_000;
    }

    private static Duration shorter(Duration duration, LimitSpec limit) {
        Duration period = Objects.requireNonNull(limit.period());
        return duration.compareTo(period) < 0 ? duration : period;
    }

    /** {@code amount × part ÷ whole}, rounded down, at most 2^53 - 1. */
    private static long share(BigDecimal amount, Duration part, Duration whole) {
        return amount.multiply(BigDecimal.valueOf(micros(part)))
                .divide(BigDecimal.valueOf(micros(whole)), 0, RoundingMode.FLOOR)
                .toBigInteger()
                .min(MAX_EXACT)
                .longValueExact();
    }

    private static BigInteger alwaysExact(BigDecimal headroom, int decimals, long periodTicks) {
        BigDecimal each = headroom.movePointRight(decimals);
        BigDecimal finest =
                each.movePointRight(Math.max(0, each.stripTrailingZeros().scale()));
        return MAX_EXACT.divide(finest.toBigIntegerExact().multiply(BigInteger.valueOf(periodTicks)));
    }

    private static long micros(Duration duration) {
        return duration.toMillis() * 1_000;
    }
}
