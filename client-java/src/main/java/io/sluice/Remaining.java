package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Observation;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the headers of one answer say is left of a limit that its call drew on.
 *
 * <p>Example: {@code anthropic-ratelimit-input-tokens-remaining: 30000} of a call of class sonnet is about {@code itpm} of {@code
 * c:sonnet}. A limit that the policy has in several places (a class, a workspace's class, the project) is the one whose amount
 * the header names, else the first of these.
 *
 * @param modelClass the call's
 * @param left as the scripts want it; heard just now
 * @param isLow less than a fifth of it
 */
record Remaining(String modelClass, Observation.Left left, boolean isLow) {
    private static final String PROJECT_POOL = "project_";

    /** One entry a limit. */
    static List<Remaining> of(Reading reading, Resolved call) {
        List<Remaining> all = new ArrayList<>();
        for (LimitReading one : reading.limits()) {
            Found found = find(one, isOfTheDay(one, reading), call);
            if (found != null && (one.remaining() != null || one.limit() != null)) {
                long low = one.limit() == null ? 0 : one.limit() / 5;
                boolean isLow = one.remaining() != null && one.remaining() < low;
                all.add(new Remaining(call.modelClass(), left(one, found, reading), isLow));
            }
        }
        return all;
    }

    /** The same without what the limit is by the provider's word. */
    Remaining withoutAmount() {
        return new Remaining(
                modelClass,
                new Observation.Left(
                        left.scope(),
                        left.limit(),
                        left.left(),
                        left.step(),
                        0,
                        0,
                        left.resetUs(),
                        left.dateMs(),
                        left.ageUs()),
                isLow);
    }

    Observation.Left aged(long ageUs) {
        return new Observation.Left(
                left.scope(),
                left.limit(),
                left.left(),
                left.step(),
                left.statedAmount(),
                left.policyAmount(),
                left.resetUs(),
                left.dateMs(),
                ageUs);
    }

    /** Whether it is the later of two of the same limit, by the provider's clock; of one second the lower. */
    boolean supersedes(Remaining other) {
        if (left.dateMs() < 0 || other.left.dateMs() < 0) {
            return true;
        }
        return left.dateMs() > other.left.dateMs()
                || (left.dateMs() == other.left.dateMs() && left.left() <= other.left.left());
    }

    /** The limit of the policy that a provider's word is for, where it is one of those every provider has. */
    static String limitOf(String dimension) {
        return switch (dimension) {
            case "requests" -> "rpm";
            case "input" -> "itpm";
            case "output" -> "otpm";
            case "tokens" -> "tpm";
            default -> dimension;
        };
    }

    private static @Nullable String dailyOf(String dimension) {
        return switch (dimension) {
            case "requests" -> "rpd";
            case "tokens" -> "tpd";
            default -> null;
        };
    }

    private record Found(String scope, LimitSpec limit) {}

    /** What is used up in the answer that says the day is: its headers do not say of what they are. */
    private static boolean isOfTheDay(LimitReading one, Reading reading) {
        Rejection rejection = reading.rejection();
        return rejection != null && rejection.kind() == Rejection.Kind.DAILY && one.isUsedUp();
    }

    private static @Nullable Found find(LimitReading reading, boolean ofTheDay, Resolved call) {
        String dimension =
                ofItsPool(reading.dimension(), call.route().modelClass().when());
        if (dimension == null) {
            return null;
        }
        boolean projects = dimension.startsWith(PROJECT_POOL);
        String word = projects ? dimension.substring(PROJECT_POOL.length()) : dimension;
        Found first = null;
        for (ScopeRoute route : call.route().scopes()) {
            String scope = route.scope();
            if (projects ? !scope.equals(ScopeSpec.PROJECT) : !isProviders(scope)) {
                continue;
            }
            for (LimitSpec limit : call.view().policy.spec().limitsOf(scope)) {
                boolean named = limit.name().equals(ofTheDay ? dailyOf(word) : limitOf(word));
                boolean same = isAmount(reading.limit(), limit);
                if (same && (named || limit.name().equals(dailyOf(word)))) {
                    return new Found(scope, limit);
                }
                // The project comes first in a route, its class says more.
                if (named && (first == null || first.scope.equals(ScopeSpec.PROJECT))) {
                    first = new Found(scope, limit);
                }
            }
        }
        return first;
    }

    private static boolean isProviders(String scope) {
        return scope.equals(ScopeSpec.PROJECT) || scope.startsWith("c:") || scope.startsWith("w:");
    }

    /** A class with a pool of its own is told of by headers of its own, and only by those. */
    private static @Nullable String ofItsPool(String dimension, When when) {
        String pool = !When.isOrdinary(when.speed()) ? when.speed() : when.serviceTier();
        if (pool == null || When.isOrdinary(pool)) {
            return dimension;
        }
        return dimension.startsWith(pool + "_") ? dimension.substring(pool.length() + 1) : null;
    }

    private static boolean isAmount(@Nullable Long stated, LimitSpec limit) {
        return stated != null && limit.amount() != null && limit.amount().compareTo(BigDecimal.valueOf(stated)) == 0;
    }

    private static Observation.Left left(LimitReading reading, Found found, Reading answer) {
        LimitSpec limit = found.limit;
        long unit = BigDecimal.ONE.movePointRight(limit.decimals()).longValueExact();
        BigDecimal amount = limit.adaptive() == null ? limit.amount() : null;
        Long stated = reading.limit();
        long policyAmount = 0;
        long statedAmount = 0;
        if (amount != null && stated != null && stated > 0) {
            int scale = Math.max(0, amount.stripTrailingZeros().scale());
            policyAmount = exact(amount.movePointRight(scale));
            statedAmount = exact(BigDecimal.valueOf(stated).movePointRight(scale));
        }
        Duration reset = reading.resetIn();
        return new Observation.Left(
                found.scope,
                limit.name(),
                reading.remaining() == null ? Observation.NOT_SAID : units(reading.remaining(), unit),
                units(Math.max(1, reading.step()), unit),
                policyAmount == 0 ? 0 : statedAmount,
                statedAmount == 0 ? 0 : policyAmount,
                reset == null ? Observation.NOT_SAID : Lessons.micros(reset),
                answer.date() == null ? Observation.NOT_SAID : answer.date().toEpochMilli(),
                0);
    }

    private static long units(long amount, long unit) {
        return amount > Weights.MAX_EXACT / unit ? Weights.MAX_EXACT : amount * unit;
    }

    private static long exact(BigDecimal amount) {
        return amount.min(BigDecimal.valueOf(Weights.MAX_EXACT)).longValue();
    }
}
