package io.sluice.testbed.fleet;

import io.sluice.testbed.fleet.FleetEvent.Outcome;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A step of an agent with {@link Tools}: its calls one after the other, a tool run after each but the last. A call that is
 * given up takes with it what the tools had told: then the agent begins the task again, tools included, as agents do that
 * only know how to start.
 */
final class Task {
    private final List<Work> calls;
    private final Tools tools;
    private final Surroundings around;
    private final Consumer<Work> make;
    private final Runnable again;

    private int next;
    private int mostRuns;
    private int lost;
    private int toolRuns;
    private int repeated;
    private @Nullable ScheduledFuture<?> tool;

    /**
     * @param calls one more than the tool runs
     * @param make makes one of the calls; then {@link #ended} is told of it
     * @param again begins the task again, after a while, by {@link #begin}
     */
    Task(List<Work> calls, Tools tools, Surroundings around, Consumer<Work> make, Runnable again) {
        this.calls = calls;
        this.tools = tools;
        this.around = around;
        this.make = make;
        this.again = again;
    }

    void begin() {
        next = 0;
        make.accept(calls.get(0));
    }

    /** Its present call ended. Whether the task is complete. */
    boolean ended(Outcome outcome) {
        if (outcome == Outcome.COMPLETED) {
            if (next == calls.size() - 1) {
                return true;
            }
            tool = around.loop().schedule(this::toolRan, tools.ms(), TimeUnit.MILLISECONDS);
        } else if (outcome == Outcome.GIVEN_UP) {
            lost += next > 0 ? 1 : 0;
            again.run();
        }
        return false;
    }

    private void toolRan() {
        next++;
        toolRuns++;
        repeated += next <= mostRuns ? 1 : 0;
        mostRuns = Math.max(mostRuns, next);
        make.accept(calls.get(next));
    }

    void stop() {
        if (tool != null) {
            tool.cancel(false);
        }
    }

    FleetEvent.Task told(boolean completed) {
        return new FleetEvent.Task(calls.get(0).agent(), completed, lost, toolRuns, repeated);
    }
}
