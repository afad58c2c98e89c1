package io.sluice.testbed.fleet;

import io.sluice.Usage;
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

/** One call that asks its {@link Admission}, sends, settles. A rejected call asks again, {@link Profile#tries} times in all. */
final class Attempt implements Errand {
    private final Admission admission;
    private final Work work;
    private final Surroundings around;
    private final BiConsumer<Errand, FleetEvent.Call> done;
    private final Story story;

    private boolean dropped;
    private boolean over;
    private @Nullable CompletableFuture<Ticket> asking;
    private @Nullable Future<?> pausing;
    private @Nullable CompletableFuture<Answer> inFlight;

    Attempt(Admission admission, Work work, Surroundings around, BiConsumer<Errand, FleetEvent.Call> done) {
        this.admission = admission;
        this.work = work;
        this.around = around;
        this.done = done;
        this.story = new Story(work, around);
    }

    @Override
    public void begin() {
        CompletableFuture<Ticket> ticket;
        try {
            ticket = admission.admit(work);
        } catch (RuntimeException e) {
            notAdmitted(e);
            return;
        }
        asking = ticket;
        then(ticket, this::admitted, this::notAdmitted);
    }

    @Override
    public void drop() {
        dropped = true;
        if (asking != null) {
            // Whether it was granted at this moment is told as always.
            asking.cancel(true);
        }
        if (pausing != null && pausing.cancel(false)) {
            end(Outcome.CUT_OFF, null);
        }
    }

    @Override
    public void abort() {
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
        story.granted(ticket.modelClass(), System.nanoTime());
        CompletableFuture<Answer> answer = around.target().send(work);
        inFlight = answer;
        then(answer, a -> answered(ticket, a), e -> unanswered(ticket, e));
    }

    private void notAdmitted(Throwable e) {
        asking = null;
        if (dropped) {
            end(Outcome.CUT_OFF, null);
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
                    story.charged(charged);
                    next.run();
                },
                this::lost);
    }

    private void again(@Nullable Duration retryAfter) {
        story.rejected();
        if (story.rejections() == work.mostTries()) {
            end(Outcome.GIVEN_UP, "rejected " + work.mostTries() + " times");
        } else if (dropped) {
            end(Outcome.CUT_OFF, null);
        } else {
            story.waitsOn();
            Duration pause = admission.pause(story.rejections(), retryAfter);
            pausing = around.loop().schedule(this::begin, pause.toNanos(), TimeUnit.NANOSECONDS);
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
        done.accept(this, story.end(outcome, why));
    }
}
