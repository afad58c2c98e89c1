package io.sluice;

import io.sluice.LimitSpec.Window;
import io.sluice.PolicyView.Resolved;
import io.sluice.Rejection.Kind;
import io.sluice.Rejection.Scope;
import io.sluice.Store.Observation;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What a provider's "no" means for the fleet: which scope pauses and for how long at most, which amount was too high. Pure.
 *
 * <p>Example: 429 "input tokens per minute", {@code retry-after: 12}, of a call of class sonnet, holds {@code c:sonnet} for
 * 12 s, whatever else is said at most for an hour. An empty balance holds the project until somebody releases it. A request that
 * is wrong, or one that the provider failed at, is nobody else's business.
 */
final class Lessons {
    /** What part of a subscription's window may be used before everybody pauses: the rest is for who is at the keyboard. */
    private static final double HOLD_AT = 0.95;

    private static final Duration PLAN_AT_MOST = Duration.ofDays(8);
    private static final long WHOLE_PPM = 1_000_000;
    private static final Observation.Slow HALF_OF_WHAT_WAS_USED = new Observation.Slow("", 0, 0, 0, 0);

    private Lessons() {}

    /** @param grantedUs when the call's permit was granted, by Redis's clock */
    static List<Observation> ofRejection(Rejection rejection, Resolved call, long grantedUs) {
        return ofRejection(rejection, "", HALF_OF_WHAT_WAS_USED, call, grantedUs);
    }

    /** What its rejection says, if it is one, and its subscription's windows. What is left of limits: {@link Remaining}. */
    static List<Observation> of(Reading reading, Resolved call, long grantedUs) {
        List<Observation> all = new ArrayList<>();
        Rejection rejection = reading.rejection();
        if (rejection != null) {
            String reach = reach(reading);
            all.addAll(ofRejection(rejection, reach, refusedRise(reading, rejection, call), call, grantedUs));
        }
        if (call.view().policy.spec().subscription()) {
            reading.windows().stream()
                    .filter(window -> window.used() != null && window.used() >= HOLD_AT)
                    .forEach(window -> all.add(planWindow(window, grantedUs)));
        }
        return all;
    }

    private static List<Observation> ofRejection(
            Rejection rejection, String reach, Observation.Slow slow, Resolved call, long grantedUs) {
        String scope = scope(rejection, reach, call);
        if (scope == null || isNobodyElses(rejection.kind())) {
            return List.of();
        }
        List<Observation> all = new ArrayList<>();
        all.add(hold(rejection, scope, grantedUs));
        if (rejection.kind() == Kind.ACCELERATION) {
            all.add(new Observation.Slow(scope, slow.nowPpm(), slow.nextPpm(), slow.nextInUs(), grantedUs));
        }
        for (LimitSpec limit :
                tooHigh(rejection.kind(), call.view().policy.spec().limitsOf(scope))) {
            all.add(new Observation.Less(scope, limit.name(), grantedUs));
        }
        return all;
    }

    private static boolean isNobodyElses(Kind kind) {
        return switch (kind) {
            case INVALID, UNSATISFIABLE, NOT_PROVISIONED, SERVER -> true;
            default -> false;
        };
    }

    /** How far it reaches in the provider's terms, where a profile read that. */
    private static String reach(Reading reading) {
        return reading.explanation().get("pause_scope") instanceof String text ? text : "";
    }

    /** Whom it reaches; {@code null}: nobody but the call. */
    private static @Nullable String scope(Rejection rejection, String reach, Resolved call) {
        boolean isProjects = rejection.scope() == Scope.PROJECT;
        if (!isProjects && (rejection.scope() != Scope.CLASS || isOfAnotherPool(reach, call))) {
            return null;
        }
        String modelClass = isProjects ? null : call.modelClass();
        String workspace = call.call().workspace;
        if (workspace != null && reach.startsWith("workspace")) {
            // Others have nothing to do with it, if the policy knows it as a part of its own.
            String own = ScopeSpec.scope(ScopeSpec.workspace(workspace), modelClass);
            if (drawsOn(own, call)) {
                return own;
            }
        }
        String scope = ScopeSpec.scope(ScopeSpec.PROJECT, modelClass);
        return isProjects || drawsOn(scope, call) ? scope : null;
    }

    private static boolean drawsOn(String scope, Resolved call) {
        return call.route().scopes().stream().anyMatch(one -> one.scope().equals(scope));
    }

    /** A call that shares a class with the ordinary ones and met a pool apart: that one is full, theirs is not. */
    private static boolean isOfAnotherPool(String reach, Resolved call) {
        When when = call.route().modelClass().when();
        return switch (reach) {
            case "model+service_tier=flex" -> when.serviceTier() == null;
            case "org+model batch queue" -> when.endpoint() == null;
            case "org+fast-pool" -> when.speed() == null;
            default -> when.speed() == null && !When.isOrdinary(call.call().speed);
        };
    }

    private static Observation.Hold hold(Rejection rejection, String scope, long grantedUs) {
        Duration stated = rejection.waitFor();
        boolean endless = stated == null && !rejection.retryable();
        long wait = endless
                ? Store.UNTIL_RELEASED
                : stated == null || stated.isZero() ? Observation.NOT_STATED : micros(stated);
        Duration most = most(rejection.kind());
        return new Observation.Hold(
                scope,
                wait,
                endless || most == null ? Store.UNTIL_RELEASED : micros(most),
                rejection.kind().label(),
                rejection.retryable(),
                grantedUs,
                "");
    }

    /** No answer of the provider, right or wrong, pauses a fleet for longer; {@code null}: as long as it takes. */
    private static @Nullable Duration most(Kind kind) {
        return switch (kind) {
            case REQUESTS, INPUT, OUTPUT, TOKENS, IMAGES, CONCURRENCY, ACCELERATION -> Duration.ofHours(1);
            case OVERLOAD -> Duration.ofMinutes(10);
            case DAILY -> Duration.ofHours(25);
            case PLAN_WINDOW -> PLAN_AT_MOST;
            case SPEND -> Duration.ofDays(32);
            case CREDITS -> null;
            case UNSATISFIABLE, NOT_PROVISIONED, SERVER, INVALID -> Duration.ZERO;
        };
    }

    private static Observation.Hold planWindow(PlanWindow window, long grantedUs) {
        Duration reset = window.resetIn();
        return new Observation.Hold(
                ScopeSpec.PROJECT,
                reset == null || reset.isZero() ? Observation.NOT_STATED : micros(reset),
                micros(PLAN_AT_MOST),
                Kind.PLAN_WINDOW.label(),
                false,
                grantedUs,
                "window " + window.name());
    }

    /** The limits whose amount is being found and that such a rejection says is too high; all, if it is about none there is. */
    private static List<LimitSpec> tooHigh(Kind kind, List<LimitSpec> limits) {
        Predicate<LimitSpec> about;
        switch (kind) {
            case REQUESTS -> about = limit -> limit.weights().requests().signum() > 0;
            case INPUT -> about = limit -> countsInput(limit) && !countsOutput(limit);
            case OUTPUT -> about = limit -> countsOutput(limit) && !countsInput(limit);
            case TOKENS -> about = limit -> countsInput(limit) && countsOutput(limit);
            default -> {
                return List.of();
            }
        }
        List<LimitSpec> found = limits.stream()
                .filter(limit -> limit.adaptive() != null && limit.window() != Window.IN_FLIGHT)
                .toList();
        if (found.stream().anyMatch(about)) {
            return found.stream().filter(about).toList();
        }
        // A 429 that does not say what counts as one for requests.
        boolean isForAKnownOne = kind != Kind.REQUESTS && limits.stream().anyMatch(about);
        return isForAKnownOne ? List.of() : found;
    }

    private static boolean countsInput(LimitSpec limit) {
        return limit.weights().input().signum() > 0;
    }

    private static boolean countsOutput(LimitSpec limit) {
        return limit.weights().output().signum() > 0;
    }

    /** The refusal of a sharp rise says how fast it may be now, and how fast from when on. */
    private static Observation.Slow refusedRise(Reading reading, Rejection rejection, Resolved call) {
        String scope = scope(rejection, reach(reading), call);
        if (scope != null && reading.explanation().get("ramp_limit") instanceof Long now) {
            String dimension = String.valueOf(reading.explanation().get("unit")).split(" ", 2)[0];
            for (LimitSpec limit : call.view().policy.spec().limitsOf(scope)) {
                if (limit.name().equals(Remaining.limitOf(dimension))) {
                    long next = reading.explanation().get("ramp_next") instanceof Long amount ? amount : now;
                    Duration in = rejection.waitFor();
                    return new Observation.Slow(
                            scope, part(now, limit), part(next, limit), in == null ? 0 : micros(in), 0);
                }
            }
        }
        return HALF_OF_WHAT_WAS_USED;
    }

    private static long part(long amount, LimitSpec limit) {
        BigDecimal whole = limit.amount();
        if (whole == null || whole.signum() == 0) {
            return 0;
        }
        BigDecimal part = BigDecimal.valueOf(amount).movePointRight(6).divideToIntegralValue(whole);
        return part.min(BigDecimal.valueOf(WHOLE_PPM)).longValue();
    }

    static long micros(Duration duration) {
        return duration.compareTo(Duration.ofDays(36_500)) > 0
                ? Duration.ofDays(36_500).toNanos() / 1_000
                : duration.toNanos() / 1_000;
    }
}
