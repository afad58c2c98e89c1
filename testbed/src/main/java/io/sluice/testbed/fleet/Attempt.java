package io.sluice.testbed.fleet;

import io.sluice.Usage;
import io.sluice.testbed.fleet.Admission.NotAdmitted;
import io.sluice.testbed.fleet.Admission.Ticket;
import io.sluice.testbed.fleet.FleetEvent.Outcome;
import io.sluice.testbed.fleet.Target.Answer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One call from the wish to its end: asks, sends, settles. A rejected call asks again, {@value #MOST_TRIES} tries in all.
 * Runs on the loop of its process.
 */
final class Attempt {
    private static final int MOST_TRIES = 10;

    private final Work work;
    private final Surroundings around;
    private final BiConsumer<Attempt, FleetEvent.Call> done;

    private final long wantedNs = System.nanoTime();
    private long grantedNs;
    private boolean granted;
    private @Nullable String modelClass;
    private int rejections;
    private Charge charge = Charge.NOTHING;

    private boolean dropped;
    private boolean over;
    private @Nullable CompletableFuture<Ticket> asking;
    private @Nullable Future<?> pausing;
    private @Nullable CompletableFuture<Answer> inFlight;

    /** @param done told once */
    Attempt(Work work, Surroundings around, BiConsumer<Attempt, FleetEvent.Call> done) {
        this.work = work;
        this.around = around;
        this.done = done;
    }

    void ask() {
        CompletableFuture<Ticket> ticket;
        try {
            ticket = around.admission().admit(work);
        } catch (RuntimeException e) {
            notAdmitted(e);
            return;
        }
        asking = ticket;
        then(ticket, this::admitted, this::notAdmitted);
    }

    /** Not to be sent any more, if it was not. */
    void drop() {
        dropped = true;
        if (asking != null) {
            // Whether it was granted at this moment is told as always.
            asking.cancel(true);
        }
        if (pausing != null && pausing.cancel(false)) {
            end(Outcome.CUT_OFF, null);
        }
    }

    /** Cuts off what is in flight. */
    void abort() {
        if (inFlight != null) {
            inFlight.cancel(true);
        }
    }

    private void admitted(Ticket ticket) {
        asking = null;
        if (dropped) {
            then(ticket.unsent(), nothing -> end(Outcome.CUT_OFF, null), this::lost);
            return;
        }
        granted = true;
        grantedNs = System.nanoTime();
        modelClass = ticket.modelClass();
        CompletableFuture<Answer> answer = around.target().send(work);
        inFlight = answer;
        then(answer, a -> answered(ticket, a), e -> unanswered(ticket, e));
    }

    private void notAdmitted(Throwable e) {
        asking = null;
        if (dropped) {
            end(Outcome.CUT_OFF, null);
        } else if (e instanceof NotAdmitted) {
            end(Outcome.GIVEN_UP, String.valueOf(e.getMessage()));
        } else {
            lost(e);
        }
    }

    private void answered(Ticket ticket, Answer answer) {
        inFlight = null;
        if (answer instanceof Answer.Served served) {
            settle(ticket.settled(served.usage()), () -> end(Outcome.COMPLETED, null));
        } else if (answer instanceof Answer.Rejected rejected) {
            settle(ticket.rejected(rejected.retryAfter()), () -> again(rejected.retryAfter()));
        } else {
            String why = ((Answer.Failed) answer).why();
            settle(ticket.settled(Usage.UNKNOWN), () -> end(Outcome.GIVEN_UP, why));
        }
    }

    /** Aborted by the stop, or by what nobody expects: whoever sent it pays the estimate. */
    private void unanswered(Ticket ticket, Throwable e) {
        inFlight = null;
        settle(ticket.settled(Usage.UNKNOWN), () -> {
            if (dropped) {
                end(Outcome.CUT_OFF, null);
            } else {
                lost(e);
            }
        });
    }

    private void settle(CompletionStage<Charge> ending, Runnable next) {
        then(
                ending,
                charged -> {
                    charge = charge.plus(charged);
                    next.run();
                },
                this::lost);
    }

    private void again(@Nullable Duration retryAfter) {
        rejections++;
        if (rejections == MOST_TRIES) {
            end(Outcome.GIVEN_UP, "rejected " + MOST_TRIES + " times");
        } else if (dropped) {
            end(Outcome.CUT_OFF, null);
        } else {
            // That grant was worth nothing: the call waits on.
            granted = false;
            Duration pause = around.admission().pause(rejections, retryAfter);
            pausing = around.loop().schedule(this::ask, pause.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    /** Such as Redis gone at the moment of settling: this call is lost, the agent is not. */
    private void lost(Throwable e) {
        end(Outcome.GIVEN_UP, e.getClass().getSimpleName());
    }

    private <T> void then(CompletionStage<T> stage, Consumer<T> good, Consumer<Throwable> bad) {
        stage.whenCompleteAsync(
                (value, e) -> {
                    try {
                        if (e == null) {
                            good.accept(value);
                        } else {
                            bad.accept(Linked.cause(e));
                        }
                    } catch (RuntimeException unexpected) {
                        lost(unexpected);
                    }
                },
                around.loop());
    }

    private void end(Outcome outcome, @Nullable String why) {
        if (over) {
            return;
        }
        over = true;
        long nowNs = System.nanoTime();
        long untilNs = granted ? grantedNs : nowNs;
        done.accept(
                this,
                new FleetEvent.Call(
                        work.agent(),
                        work.team(),
                        work.priority(),
                        modelClass,
                        work.size(),
                        outcome,
                        granted,
                        around.sinceStartMs(wantedNs),
                        TimeUnit.NANOSECONDS.toMillis(untilNs - wantedNs),
                        granted ? TimeUnit.NANOSECONDS.toMillis(nowNs - grantedNs) : 0,
                        rejections,
                        charge,
                        why));
    }
}
