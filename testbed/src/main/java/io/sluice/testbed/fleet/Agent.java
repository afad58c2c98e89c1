package io.sluice.testbed.fleet;

import io.sluice.testbed.fleet.FleetEvent.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One agent: thinks, makes the calls of its step, at once or as a {@link Task}, and goes on when all of them have ended. At
 * the stop signal it drops calls that were not sent, and lets those in flight end.
 *
 * <p>It has no thread: all its methods run on its process's loop, so that 47 calls at once cost no more than their memory.
 */
final class Agent {
    /** Who was refused, or whose Redis is out, does not ask again at once. */
    private static final long REFUSED_MS = 500;

    private final Workload workload;
    private final Surroundings around;
    private final List<Errand> open = new ArrayList<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private boolean stopping;
    private @Nullable ScheduledFuture<?> next;
    private @Nullable Task task;

    Agent(Workload workload, Surroundings around) {
        this.workload = workload;
        this.around = around;
    }

    /** Begins after a delay. */
    void start(long delayMs) {
        next = around.loop().schedule(this::think, delayMs, TimeUnit.MILLISECONDS);
    }

    /** No new request is sent from now on. */
    void stop() {
        stopping = true;
        if (next != null) {
            next.cancel(false);
        }
        if (task != null) {
            task.stop();
        }
        List.copyOf(open).forEach(Errand::drop);
        endIfDone();
    }

    /** Calls in flight have had their time. */
    void abort() {
        List.copyOf(open).forEach(Errand::abort);
    }

    /** Completes when it was stopped and its last call has ended. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    private void think() {
        Tools tools = workload.tools();
        List<Work> step = workload.step();
        if (tools == null) {
            after(step.get(0).thinkMs(), () -> make(step));
            return;
        }
        Task begun = new Task(step, tools, around, work -> make(List.of(work)), this::beginAgain);
        task = begun;
        after(step.get(0).thinkMs(), begun::begin);
    }

    private void beginAgain() {
        Task lost = task;
        if (lost != null && !stopping) {
            after(Math.max(REFUSED_MS, workload.pauseMs()), lost::begin);
        }
    }

    private void after(long ms, Runnable what) {
        next = around.loop().schedule(what, ms, TimeUnit.MILLISECONDS);
    }

    private void make(List<Work> works) {
        for (Work work : works) {
            open.add(around.caller().errand(work, around, this::done));
        }
        List.copyOf(open).forEach(Errand::begin);
    }

    private void done(Errand errand, FleetEvent.Call call) {
        open.remove(errand);
        around.tell().accept(call);
        Task running = task;
        boolean stepDone = running == null ? open.isEmpty() : running.ended(call.outcome());
        if (stepDone) {
            tellTask(true);
        }
        if (stopping) {
            if (running != null) {
                running.stop();
            }
            endIfDone();
        } else if (stepDone) {
            boolean refused = call.outcome() == Outcome.GIVEN_UP && !call.granted();
            after(refused ? REFUSED_MS : 0, this::think);
        }
    }

    private void tellTask(boolean completed) {
        if (task != null) {
            around.tell().accept(task.told(completed));
            task = null;
        }
    }

    private void endIfDone() {
        if (stopping && open.isEmpty() && !ended.isDone()) {
            tellTask(false);
            ended.complete(null);
        }
    }
}
