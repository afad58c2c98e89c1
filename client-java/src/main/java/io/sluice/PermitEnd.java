package io.sluice;

import io.sluice.Permit.Ending;
import io.sluice.Permit.How;
import io.sluice.Permit.Reserved;
import io.sluice.PolicyView.Resolved;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a permit ends: once, whoever asks for it first; what its answer taught is told before, and what it came to is counted
 * after.
 */
final class PermitEnd {
    private static final Logger log = LoggerFactory.getLogger(PermitEnd.class);
    private static final Reserved NOTHING = new Reserved(0, 0, 0, 0, 0);

    private final LivePermit permit;
    private final ProjectClient project;
    private final Resolved call;
    private final long grantedUs;

    /** The one ending, once somebody has asked for one. */
    private final AtomicReference<@Nullable CompletableFuture<Ending>> asked = new AtomicReference<>();

    /** Counts it, once there is one. */
    private volatile Consumer<Ending> onEnd = result -> {};

    /** Its lease had run out, which Redis has counted, and what it used was booked by this ending all the same. */
    volatile boolean bookedLate;

    PermitEnd(LivePermit permit, ProjectClient project, Resolved call, long grantedUs) {
        this.permit = permit;
        this.project = project;
        this.call = call;
        this.grantedUs = grantedUs;
    }

    /** Whether one was asked for. */
    boolean isAsked() {
        return asked.get() != null;
    }

    CompletionStage<Ending> settled(Usage usage) {
        return settled(usage, true, () -> {});
    }

    /** Closed without a word: the estimate stands. */
    CompletionStage<Ending> closed() {
        return settled(Usage.UNKNOWN, false, () -> {});
    }

    private CompletionStage<Ending> settled(Usage usage, boolean teaches, Runnable first) {
        return end(How.SETTLED, Estimates.merge(usage, call.estimate()), usage, () -> {
            first.run();
            if (teaches) {
                project.observing.learning.used(call.modelClass(), call.call(), usage);
            }
        });
    }

    CompletionStage<Ending> settled(Reading reading) {
        Rejection rejection = reading.rejection();
        // What was cut says little of what such answers have.
        return rejection == null
                ? settled(
                        Estimates.booked(reading, call.call(), call.estimate().output()),
                        reading.usageComplete(),
                        () -> observed(reading))
                : rejected(rejection, Estimates.booked(reading, call.call(), 0), () -> observed(reading));
    }

    /** Tells the fleet what an answer says, first: what is asked after it meets the hold. */
    private void observed(Reading reading) {
        project.observing.answered(reading, call, grantedUs);
        Rejection rejection = reading.rejection();
        if (rejection != null) {
            project.holdsHere(rejection, call);
        }
    }

    /**
     * Ends it as a caller of the desk reports.
     *
     * @param reading of the report's answer, {@code null} if it has none
     */
    CompletionStage<Ending> reported(Desk.Report report, @Nullable Reading reading) {
        Usage usage = report.usage();
        boolean whole = !usage.equals(Usage.UNKNOWN);
        if (reading != null) {
            usage = usage.orElse(reading.usage());
            whole |= reading.usageComplete();
        }
        Runnable first = () -> {
            if (report.mayTeach() && reading != null) {
                project.taughtAtDesk(reading, report.reporter(), call, grantedUs);
            }
        };
        Rejection rejection = reading == null ? null : reading.rejection();
        return rejection == null
                ? settled(usage, report.mayTeach() && whole, first)
                : rejected(rejection, usage, first);
    }

    CompletionStage<Ending> cancelled() {
        return end(How.CANCELLED, NOTHING, null, () -> {});
    }

    CompletionStage<Ending> throttled(Rejection rejection) {
        return rejected(rejection, Usage.UNKNOWN, () -> {
            project.observing.rejected(rejection, call, grantedUs);
            project.holdsHere(rejection, call);
        });
    }

    private CompletionStage<Ending> rejected(Rejection rejection, Usage before, Runnable first) {
        // The request was counted by the provider; tokens only where it told some before it failed.
        return end(How.THROTTLED, Estimates.merge(before, new Reserved(1, 0, 0, 0, 0)), null, () -> {
            first.run();
            project.client.meters.rejection(project.id(), call.modelClass(), rejection.kind());
            project.counting.rejected(Who.of(call), rejection);
        });
    }

    /** @param first done by the one ending that counts, before Redis is told */
    private CompletionStage<Ending> end(How how, Reserved used, @Nullable Usage usage, Runnable first) {
        CompletableFuture<Ending> mine = new CompletableFuture<>();
        CompletableFuture<Ending> earlier = asked.compareAndExchange(null, mine);
        if (earlier != null) {
            return earlier.thenApply(e -> new Ending(e.ended(), true, e.charged()));
        }
        try {
            first.run();
        } catch (RuntimeException e) {
            // Whatever it was, the permit ends.
            log.error("{}: what an answer taught is lost", project.id(), e);
        }
        int requests = how == How.CANCELLED ? 0 : permit.sends.count();
        Reserved all = new Reserved(requests, used.input(), used.cacheRead(), used.cacheWrite(), used.output());
        onEnd = result -> count(result, usage, requests);
        project.end(permit, how, all).whenComplete((result, e) -> {
            if (e == null) {
                onEnd.accept(result);
                mine.complete(result);
            } else {
                mine.completeExceptionally(Blocking.cause(e));
            }
        });
        return mine;
    }

    /** Its caller could not be told of its end. */
    void late(Ending result) {
        onEnd.accept(result);
    }

    private void count(Ending result, @Nullable Usage usage, int requests) {
        Meters meters = project.client.meters;
        if (!result.already()) {
            meters.permit(project.id(), call.modelClass(), result.ended().name().toLowerCase(Locale.ROOT));
            project.counting.ended(Who.of(call), permit.id(), result.ended(), result.charged());
        }
        if (!result.already() || bookedLate) {
            meters.tokens(project.id(), call.modelClass(), result.charged());
            project.counting.used(
                    Who.of(call), result.charged(), call.view().policy.microUsd(call.call().model, result.charged()));
            if (requests > 1) {
                meters.resends(project.id(), requests - 1);
            }
        }
        if (usage != null && usage.isPartial()) {
            meters.usageMissing();
            project.counting.usageMissing();
        }
    }
}
