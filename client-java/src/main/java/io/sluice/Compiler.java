package io.sluice;

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
 * level in units so fine that one tick refills a whole number of them.
 *
 * <p>Example: 55 requests a minute at headroom 0.9 are 49.5 in 60,000,000 ticks of 1 µs. Ten times finer, that is a rate
 * of 495 level units a tick where one request takes a factor of 600,000,000.
 */
final class Compiler {
    private static final BigInteger MAX_EXACT = BigInteger.valueOf(Weights.MAX_EXACT);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private Compiler() {}

    /** Every scope of the policy by its name, the project first. */
    static Map<String, ScopeLimits> scopes(Policy.Spec policy) {
        Map<String, ScopeLimits> scopes = new LinkedHashMap<>();
        for (ScopeSpec spec : policy.scopes()) {
            if (spec.isKept()) {
                scopes.put(spec.scope(), scope(spec, policy));
            }
        }
        for (ScopeSpec spec : policy.scopes()) {
            LimitSpec agents = spec.agents();
            if (agents != null) {
                String name = ScopeSpec.agentsOf(spec.scope());
                scopes.put(name, new ScopeLimits(name, slots(agents), List.of()));
            }
        }
        return Collections.unmodifiableMap(scopes);
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

    private static ScopeLimits scope(ScopeSpec spec, Policy.Spec policy) {
        long slots = ScopeLimits.UNLIMITED;
        List<RefillLimit> refills = new ArrayList<>();
        for (LimitSpec limit : spec.limits()) {
            switch (limit.window()) {
                case IN_FLIGHT -> slots = limit.countsAgents() ? slots : slots(limit);
                case REFILL -> refills.add(refill(limit, policy));
                case CALENDAR, ROLLING -> throw new IllegalStateException(limit.name() + " is not enforced");
            }
        }
        return new ScopeLimits(spec.scope(), slots, spec.max(), refills);
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
        Duration period = Objects.requireNonNull(limit.period());
        BigDecimal headroom = headroom(limit, policy);
        Duration burst = burst(limit, policy);
        Duration span = span(limit, policy);
        long tickUs = tickUs(period);
        long periodTicks = micros(period) / tickUs;
        int decimals = limit.decimals();

        BigDecimal amount = Objects.requireNonNull(limit.amount()).movePointRight(decimals);
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
        long burstTicks = Math.max(1, micros(burst) / tickUs);
        return new RefillLimit(
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
