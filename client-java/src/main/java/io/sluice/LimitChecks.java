package io.sluice;

import io.sluice.LimitSpec.Window;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.time.Duration;

/** What a limit's numbers must have in common with the policy's: countable, passable, and safe at the provider. */
final class LimitChecks {
    private static final Duration HOUR = Duration.ofHours(1);

    /** What may come of a limit of the provider's that lets too much through. */
    private static final String REJECTS = "; the provider may reject what is above 1";

    private LimitChecks() {}

    static void check(Policy.Spec policy, Node.Members document, Problems problems, Problems warnings) {
        BigDecimal usual = mostInSpan(policy.headroom(), policy.burst(), policy.quantum());
        boolean usualWarns = usual.compareTo(BigDecimal.ONE) > 0;
        if (usualWarns) {
            Node at =
                    document.values().getOrDefault("headroom", document.values().getOrDefault("burst", document));
            warn(at, policy.headroom(), policy.burst(), policy.quantum(), usual, REJECTS, warnings);
        }
        for (ScopeSpec scope : policy.scopes()) {
            String so = scope.isProviders() ? REJECTS : "";
            for (LimitSpec limit : scope.limits()) {
                checkFound(limit, scope, problems);
                if (limit.window() == Window.REFILL && limit.amount() != null && limit.period() != null) {
                    boolean said = check(limit, policy, problems);
                    if (!said && !limit.usd() && limit.period().compareTo(HOUR) <= 0) {
                        warnIfOwn(limit, policy, usualWarns, so, warnings);
                    }
                } else if (limit.window() != Window.IN_FLIGHT && limit.amount() != null) {
                    checkWindow(limit, problems);
                }
            }
        }
    }

    private static boolean check(LimitSpec limit, Policy.Spec policy, Problems problems) {
        RefillLimit refill;
        try {
            refill = Compiler.refill(limit, policy);
        } catch (IllegalArgumentException e) {
            problems.add(limit.at(), limit.name() + " " + e.getMessage());
            return true;
        }
        if (refill.rate() > 0 && Compiler.refill(limit.atStart(), policy).ceiling() < least(refill)) {
            problems.add(
                    limit.at(),
                    "no call could ever pass: with a headroom of "
                            + Compiler.headroom(limit, policy).toPlainString() + " less than one call fits into "
                            + Durations.text(Compiler.span(limit, policy))
                            + "; raise the amount, the headroom or the quantum");
            return true;
        }
        return false;
    }

    private static void checkWindow(LimitSpec limit, Problems problems) {
        if (limit.window() == Window.ROLLING && limit.period() == null) {
            return; // was said already
        }
        RefillLimit window;
        try {
            window = limit.window() == Window.ROLLING ? Compiler.rolling(limit) : Compiler.calendar(limit, 1);
        } catch (IllegalArgumentException e) {
            problems.add(limit.at(), limit.name() + " " + e.getMessage());
            return;
        }
        boolean isClosed = limit.amount() != null && limit.amount().signum() == 0;
        if (!isClosed && window.ceiling() < least(window)) {
            problems.add(limit.at(), "no call could ever pass: less than one fits into a window; raise the amount");
        }
    }

    private static long least(RefillLimit refill) {
        return Math.max(1, refill.weights().requests());
    }

    /** Amounts that come from the provider come with answers, and those speak of the project and its classes. */
    private static void checkFound(LimitSpec limit, ScopeSpec scope, Problems problems) {
        if (!scope.isToldOf() && (limit.adopt() || limit.adaptive() != null)) {
            problems.add(
                    limit.at(),
                    (limit.adopt() ? "adopt" : "adaptive")
                            + " goes with the limits of the project and its classes only");
        }
    }

    /** Warns of numbers that are the limit's own; those it has from the policy were warned of once. */
    private static void warnIfOwn(
            LimitSpec limit, Policy.Spec policy, boolean usualWarns, String so, Problems warnings) {
        BigDecimal headroom = Compiler.headroom(limit, policy);
        Duration burst = Compiler.burst(limit, policy);
        Duration span = Compiler.span(limit, policy);
        boolean usual = headroom.compareTo(policy.headroom()) == 0
                && burst.equals(policy.burst())
                && span.equals(policy.quantum());
        BigDecimal most = mostInSpan(headroom, burst, span);
        if (most.compareTo(BigDecimal.ONE) > 0 && !(usual && usualWarns)) {
            warn(limit.at(), headroom, burst, span, most, so, warnings);
        }
    }

    private static void warn(
            Node at,
            BigDecimal headroom,
            Duration burst,
            Duration span,
            BigDecimal most,
            String so,
            Problems warnings) {
        warnings.add(
                at,
                "headroom " + headroom.toPlainString() + " with a burst of " + Durations.text(burst) + " lets "
                        + most.round(new MathContext(4, RoundingMode.UP)).toPlainString()
                        + " of the limit through in some " + Durations.text(span) + so);
    }

    /** The largest share of the provider's limit that any {@code span} can admit: headroom × (1 + burst ÷ span). */
    private static BigDecimal mostInSpan(BigDecimal headroom, Duration burst, Duration span) {
        BigDecimal whole = BigDecimal.valueOf(span.toMillis());
        return headroom.multiply(whole.add(BigDecimal.valueOf(burst.toMillis())))
                .divide(whole, MathContext.DECIMAL64);
    }
}
