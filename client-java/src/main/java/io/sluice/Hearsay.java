package io.sluice;

import io.sluice.LimitSpec.Window;
import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Observation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What callers of the desk say that the provider said. It may be true, and may not: it can slow a project for minutes, never stop
 * it for a day. So a hold lasts 5 minutes, and ends within 10 minutes of the permit whose call was rejected, or a caller with many
 * permits could report one after the other. What is left counts for limits that are full again within minutes. What the
 * provider's limit is, and that money ran out, counts once a second reporter says the same within 10 minutes; that is known to
 * this process alone, so two who report to different ones confirm nothing.
 */
final class Hearsay {
    private static final long HOLD_US = TimeUnit.MINUTES.toMicros(5);
    private static final long AFTER_GRANT_US = TimeUnit.MINUTES.toMicros(10);
    private static final long CONFIRMED_WITHIN_NS = TimeUnit.MINUTES.toNanos(10);
    private static final Duration SOON = Duration.ofMinutes(5);

    /** What a project can be told of at a time: beyond that the oldest is forgotten. */
    private static final int CLAIMS = 1_000;

    private static final Set<String> MONEY = Set.of(Rejection.Kind.SPEND.label(), Rejection.Kind.CREDITS.label());

    private final LongSupplier nanoTime;

    /** Who said what first, and when. */
    private final Map<String, Said> said = new LinkedHashMap<>();

    private record Said(String reporter, long atNs) {}

    Hearsay(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /**
     * What of this counts.
     *
     * @param grantedUs when the reported call's permit was granted, and {@code nowUs} what time it is, by Redis's clock
     */
    List<Observation> of(List<Observation> lessons, String reporter, long grantedUs, long nowUs) {
        List<Observation> counts = new ArrayList<>();
        for (Observation one : lessons) {
            if (one instanceof Observation.Hold hold) {
                boolean confirmed =
                        MONEY.contains(hold.kind()) && confirms("hold " + hold.kind() + " " + hold.scope(), reporter);
                Observation.Hold clamped =
                        confirmed ? hold : clamped(hold, Math.min(HOLD_US, grantedUs + AFTER_GRANT_US - nowUs));
                if (clamped != null) {
                    counts.add(clamped);
                }
            } else {
                counts.add(one);
            }
        }
        return counts;
    }

    private static Observation.@Nullable Hold clamped(Observation.Hold hold, long mostUs) {
        boolean shorter = hold.mostUs() != Store.UNTIL_RELEASED && hold.mostUs() <= mostUs;
        return mostUs <= 0
                ? null
                : new Observation.Hold(
                        hold.scope(),
                        hold.waitUs(),
                        shorter ? hold.mostUs() : mostUs,
                        hold.kind(),
                        hold.retryable(),
                        hold.grantedUs(),
                        hold.note());
    }

    /** What of this counts: of limits that come back soon what is left, and what the limit is if another says so too. */
    List<Remaining> left(List<Remaining> all, Resolved call, String reporter) {
        List<Remaining> counts = new ArrayList<>();
        for (Remaining one : all) {
            Observation.Left left = one.left();
            LimitSpec limit = limitOf(left, call);
            if (limit == null || !comesBackSoon(limit)) {
                continue;
            }
            String claim = "limit " + left.statedAmount() + "/" + left.policyAmount() + " " + left.limit() + " "
                    + left.scope();
            boolean counted = !limit.adopt() || left.statedAmount() == 0 || confirms(claim, reporter);
            counts.add(counted ? one : one.withoutAmount());
        }
        return counts;
    }

    private static boolean comesBackSoon(LimitSpec limit) {
        return limit.window() == Window.REFILL
                && limit.period() != null
                && limit.period().compareTo(SOON) <= 0;
    }

    private static @Nullable LimitSpec limitOf(Observation.Left left, Resolved call) {
        return call.view().policy.spec().limitsOf(left.scope()).stream()
                .filter(limit -> limit.name().equals(left.limit()))
                .findFirst()
                .orElse(null);
    }

    /** Whether another reporter has said so lately. */
    private synchronized boolean confirms(String claim, String reporter) {
        long now = nanoTime.getAsLong();
        Said first = said.get(claim);
        if (first != null && now - first.atNs <= CONFIRMED_WITHIN_NS && !first.reporter.equals(reporter)) {
            return true;
        }
        // The latest word counts: put at the end, where what is forgotten last stands.
        said.remove(claim);
        said.put(claim, new Said(reporter, now));
        if (said.size() > CLAIMS) {
            said.remove(said.keySet().iterator().next());
        }
        return false;
    }
}
