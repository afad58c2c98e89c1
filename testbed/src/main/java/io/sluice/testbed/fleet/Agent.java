package io.sluice.testbed.fleet;

import io.sluice.Usage;
import io.sluice.testbed.fleet.Admission.NotAdmitted;
import io.sluice.testbed.fleet.Admission.Ticket;
import io.sluice.testbed.fleet.FleetEvent.Outcome;
import io.sluice.testbed.fleet.Target.Answer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One agent: thinks, asks, sends, settles, over and over. A rejected call asks again, {@value #MOST_TRIES} tries in all.
 * At the stop signal it drops a call that was not sent, and lets one in flight end.
 */
final class Agent extends Thread {
    private static final int MOST_TRIES = 10;

    private final Workload workload;
    private final Admission admission;
    private final Target target;
    private final Consumer<FleetEvent> tell;

    private final Object lock = new Object();
    private boolean stopping;
    private boolean sending;

    Agent(Workload workload, Admission admission, Target target, Consumer<FleetEvent> tell) {
        super(null, null, workload.agent(), 256 * 1024);
        setDaemon(true);
        this.workload = workload;
        this.admission = admission;
        this.target = target;
        this.tell = tell;
    }

    /** No new request is sent from now on. */
    void signalStop() {
        synchronized (lock) {
            stopping = true;
            if (!sending) {
                interrupt();
            }
        }
    }

    @Override
    public void run() {
        try {
            while (!stopping()) {
                Work work = workload.next();
                Thread.sleep(work.thinkMs());
                tell.accept(new Attempt(work).make());
            }
        } catch (InterruptedException stopped) {
            // Between two calls: nothing is lost.
        }
    }

    private boolean stopping() {
        synchronized (lock) {
            return stopping;
        }
    }

    private boolean beginToSend() {
        synchronized (lock) {
            sending = !stopping;
            return sending;
        }
    }

    private void endOfSending() {
        synchronized (lock) {
            sending = false;
        }
    }

    /** One call from the wish to its end. */
    private final class Attempt {
        private final Work work;
        private final long wantedNs = System.nanoTime();
        private long sentNs = wantedNs;
        private int rejections;

        Attempt(Work work) {
            this.work = work;
        }

        FleetEvent.Call make() {
            try {
                while (true) {
                    Ticket ticket = admission.admit(work);
                    if (!beginToSend()) {
                        Thread.interrupted();
                        ticket.unsent();
                        return ended(Outcome.CUT_OFF, null);
                    }
                    sentNs = System.nanoTime();
                    FleetEvent.Call ended = settle(ticket, send(ticket));
                    if (ended != null) {
                        return ended;
                    }
                }
            } catch (InterruptedException stopped) {
                return ended(Outcome.CUT_OFF, null);
            } catch (NotAdmitted e) {
                sentNs = System.nanoTime();
                return ended(Outcome.GIVEN_UP, String.valueOf(e.getMessage()));
            } catch (RuntimeException e) {
                // Such as Redis gone at the moment of settling: this call is lost, the agent is not.
                return ended(Outcome.GIVEN_UP, e.getClass().getSimpleName());
            }
        }

        private Answer send(Ticket ticket) throws InterruptedException {
            try {
                return target.send(work);
            } catch (InterruptedException aborted) {
                ticket.settled(Usage.UNKNOWN);
                throw aborted;
            } finally {
                endOfSending();
            }
        }

        private FleetEvent.@Nullable Call settle(Ticket ticket, Answer answer) throws InterruptedException {
            if (answer instanceof Answer.Served served) {
                ticket.settled(served.usage());
                return ended(Outcome.COMPLETED, null);
            }
            if (answer instanceof Answer.Rejected rejected) {
                ticket.rejected(rejected.retryAfter());
                rejections++;
                if (rejections == MOST_TRIES) {
                    return ended(Outcome.GIVEN_UP, "rejected " + MOST_TRIES + " times");
                }
                Duration pause = admission.pause(rejections, rejected.retryAfter());
                if (stopping()) {
                    return ended(Outcome.CUT_OFF, null);
                }
                TimeUnit.NANOSECONDS.sleep(pause.toNanos());
                return null;
            }
            ticket.settled(Usage.UNKNOWN);
            return ended(Outcome.GIVEN_UP, ((Answer.Failed) answer).why());
        }

        private FleetEvent.Call ended(Outcome outcome, @Nullable String why) {
            long until = outcome == Outcome.CUT_OFF ? System.nanoTime() : sentNs;
            return new FleetEvent.Call(
                    work.agent(),
                    work.team(),
                    work.priority(),
                    work.size(),
                    outcome,
                    TimeUnit.NANOSECONDS.toMillis(until - wantedNs),
                    rejections,
                    why);
        }
    }
}
