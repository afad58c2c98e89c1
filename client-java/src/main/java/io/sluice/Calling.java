package io.sluice;

import io.sluice.Refusal.Kind;
import io.sluice.Retries.Next;
import io.sluice.Retries.Tally;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One call on its way from a permit to an answer, and where need be round again: acquire, send, read, end the permit, decide
 * ({@link Retries}), wait. One step is under way at a time, and giving up ends whichever it is.
 *
 * <p>What reaches more than this request is on hold for the whole fleet, so there the call takes its place in line at once and
 * the hold keeps it waiting. If a permit comes earlier than the provider allowed (the hold was not heard of, or somebody
 * released it) it goes back, and the rest is waited for outside. What concerns this request alone waits outside from the start.
 * Nobody waits with a permit in his hand.
 */
final class Calling {
    private static final Logger log = LoggerFactory.getLogger(Calling.class);

    private final ProjectClient project;
    private final SluiceClient client;
    private final Call call;
    private final Profile profile;
    private final CallOptions options;
    private final Sender.Async sender;
    private final long startedNs = System.nanoTime();
    private final CompletableFuture<Response> result = new CompletableFuture<>();

    /** Ends the step under way. */
    private volatile Runnable step = () -> {};

    // Each step begins after the last one ended, and with it these change hands.
    private Duration total = Duration.ZERO;
    private boolean shadow;
    private Tally tally = Tally.NONE;
    private @Nullable Failed last;
    private long notBeforeNs = startedNs;

    /** An attempt that was not served. */
    private record Failed(
            Rejection rejection,
            @Nullable Response response,
            @Nullable IOException connection) {}

    Calling(ProjectClient project, Call call, Profile profile, CallOptions options, Sender.Async sender) {
        this.project = project;
        this.client = project.client;
        this.call = call;
        this.profile = profile;
        this.options = options;
        this.sender = sender;
    }

    /** Completes on callback threads. Cancelling it gives the call up. */
    CompletableFuture<Response> start() {
        result.whenComplete((response, e) -> {
            project.calls.remove(this);
            step.run();
        });
        if (!project.begins(this)) {
            return result;
        }
        CompletableFuture<PolicyView> policy = client.handOver(project.knownPolicy());
        policy.whenComplete((view, e) -> guarded(() -> {
            if (e != null) {
                fail(Blocking.cause(e));
                return;
            }
            Duration most = view.policy.maxWait();
            Duration asked = options.totalTime();
            total = asked == null || asked.compareTo(most) > 0 ? most : asked;
            shadow = view.policy.shadow();
            acquire();
        }));
        return result;
    }

    private Duration left() {
        Duration left = total.minusNanos(System.nanoTime() - startedNs);
        return left.isNegative() ? Duration.ZERO : left;
    }

    private void acquire() {
        if (result.isDone()) {
            return;
        }
        CompletableFuture<Permit> asked = project.acquireAsync(tally.attempts() == 0 ? call : call.anew(), left())
                .toCompletableFuture();
        begin(() -> asked.cancel(false));
        asked.whenComplete((permit, e) -> guarded(() -> {
            if (e == null) {
                granted(permit);
            } else {
                noPermit(Blocking.cause(e));
            }
        }));
    }

    private void noPermit(Throwable cause) {
        if (cause instanceof RefusedException refused
                && last != null
                && refused.refusal().kind() != Kind.CANCELLED) {
            fail(unserved(last, "no permit to send it again (" + refused.getMessage() + ")", refused));
        } else {
            fail(cause);
        }
    }

    private void granted(Permit permit) {
        long early = notBeforeNs - System.nanoTime();
        if (early > 0 || result.isDone()) {
            permit.cancelAsync().whenComplete((ending, e) -> guarded(() -> pause(Duration.ofNanos(early))));
            return;
        }
        int left = options.maxAttempts() - tally.requests();
        send(new LiveAttempt(permit, call, profile, tally.attempts() + 1, left, InstantSource.system()));
    }

    private void send(LiveAttempt attempt) {
        if (attempt.permit() instanceof LivePermit live) {
            live.sends.begun();
        }
        CompletableFuture<Response> answer;
        try {
            answer = sender.send(attempt).toCompletableFuture();
        } catch (Throwable e) {
            answer = CompletableFuture.failedFuture(e);
        }
        CompletableFuture<Response> sent = answer;
        begin(() -> sent.cancel(true));
        sent.whenComplete((response, e) -> guarded(() -> {
            try {
                over(attempt, response, e == null ? null : Blocking.cause(e));
            } catch (RuntimeException failure) {
                attempt.permit().close();
                throw failure;
            }
        }));
    }

    /** The attempt is over; so is its permit, whatever Redis says to that: it is told until it has heard. */
    private void over(LiveAttempt attempt, @Nullable Response response, @Nullable Throwable thrown) {
        tally = tally.plus(attempt.requests());
        Response known = response == null ? attempt.soFar() : response;
        IOException connection = thrown == null ? null : Failures.connection(thrown);
        ending(attempt, known, connection)
                .whenComplete((ending, e) -> guarded(() -> {
                    if (e != null) {
                        log.debug(
                                "{}: not booked yet: {}",
                                project.id(),
                                Blocking.cause(e).getMessage());
                    }
                    Rejection rejection = known == null ? null : Failures.of(known);
                    if (thrown != null && connection == null) {
                        fail(thrown);
                    } else if (rejection == null && connection == null) {
                        result.complete(Objects.requireNonNull(response, "the sender returned null"));
                    } else {
                        decide(
                                new Failed(rejection == null ? Failures.NO_ANSWER : rejection, known, connection),
                                attempt.handedOn());
                    }
                }));
    }

    private CompletionStage<Permit.Ending> ending(
            LiveAttempt attempt, @Nullable Response known, @Nullable IOException connection) {
        Permit permit = attempt.permit();
        if (known != null) {
            Rejection rejection = Failures.of(known);
            return rejection == null || rejection.equals(known.reading().rejection())
                    ? permit.settleAsync(known.reading())
                    : permit.throttledAsync(rejection);
        }
        boolean neverLeft = connection != null && Failures.neverLeft(connection) && attempt.requests() == 1;
        return neverLeft ? permit.cancelAsync() : permit.settleAsync(Usage.UNKNOWN);
    }

    private void decide(Failed failed, boolean handedOn) {
        last = failed;
        Next next = Retries.next(
                failed.rejection,
                handedOn,
                tally,
                options,
                left(),
                ThreadLocalRandom.current().nextDouble());
        if (next instanceof Next.Again again) {
            again(failed.rejection, again.pause());
        } else if (next instanceof Next.Stop stop) {
            fail(unserved(failed, stop.why(), failed.connection));
        }
    }

    private void again(Rejection rejection, Duration pause) {
        notBeforeNs = System.nanoTime() + pause.toNanos();
        client.tell(() -> client.listener.retrying(
                new WaitListener.Retrying(project.id(), call, rejection, pause, tally.attempts())));
        boolean alone = rejection.scope() == Rejection.Scope.REQUEST || rejection.scope() == Rejection.Scope.CALLER;
        if (alone || shadow) {
            pause(pause);
        } else {
            acquire();
        }
    }

    private void pause(Duration length) {
        if (result.isDone()) {
            return;
        }
        ScheduledFuture<?> alarm = client.timer.schedule(this::paused, length.toNanos(), TimeUnit.NANOSECONDS);
        begin(() -> alarm.cancel(false));
    }

    private void paused() {
        client.callbacks.execute(() -> guarded(this::acquire));
    }

    /** The client closes: it ends wherever it is. What was sent is cancelled, and booked with what is known of it. */
    void close() {
        fail(new RefusedException(Refusals.closed(project.id())));
    }

    private ProviderException unserved(Failed failed, String why, @Nullable Throwable cause) {
        String message = Failures.message(project.id(), failed.rejection, failed.response, failed.connection, why);
        return new ProviderException(message, failed.rejection, failed.response, tally.requests(), cause);
    }

    private void begin(Runnable end) {
        step = end;
        if (result.isDone()) {
            end.run();
        }
    }

    private void fail(Throwable e) {
        result.completeExceptionally(e);
    }

    /** A mistake of ours must not leave a caller waiting for ever. */
    private void guarded(Runnable work) {
        try {
            work.run();
        } catch (Throwable e) {
            fail(e);
        }
    }
}
