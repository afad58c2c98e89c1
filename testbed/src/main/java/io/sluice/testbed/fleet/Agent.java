package io.sluice.testbed.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One agent: thinks, makes the calls of its step, and goes on when all of them have ended. At the stop signal it drops
 * calls that were not sent, and lets those in flight end.
 *
 * <p>It has no thread: all its methods run on its process's loop, so that 47 calls at once cost no more than their memory.
 */
final class Agent {
    private final Workload workload;
    private final Surroundings around;
    private final List<Attempt> open = new ArrayList<>();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private boolean stopping;
    private @Nullable ScheduledFuture<?> next;

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
        List.copyOf(open).forEach(Attempt::drop);
        endIfDone();
    }

    /** Calls in flight have had their time. */
    void abort() {
        List.copyOf(open).forEach(Attempt::abort);
    }

    /** Completes when it was stopped and its last call has ended. */
    CompletableFuture<Void> ended() {
        return ended;
    }

    private void think() {
        List<Work> step = workload.step();
        next = around.loop().schedule(() -> make(step), step.get(0).thinkMs(), TimeUnit.MILLISECONDS);
    }

    private void make(List<Work> step) {
        for (Work work : step) {
            open.add(new Attempt(work, around, this::done));
        }
        List.copyOf(open).forEach(Attempt::ask);
    }

    private void done(Attempt attempt, FleetEvent.Call call) {
        open.remove(attempt);
        around.tell().accept(call);
        if (stopping) {
            endIfDone();
        } else if (open.isEmpty()) {
            think();
        }
    }

    private void endIfDone() {
        if (stopping && open.isEmpty()) {
            ended.complete(null);
        }
    }
}
