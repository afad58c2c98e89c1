package io.sluice.testbed.bench;

import io.sluice.Call;
import io.sluice.OutageException;
import io.sluice.Permit;
import io.sluice.Project;
import io.sluice.Usage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one flow in one host that are settled as soon as they are granted. Either as many as told are always on their way,
 * each followed by the next, or they come when {@link #ask} is called, whatever became of earlier ones.
 */
final class Flood {
    private static final Duration MAX_WAIT = Duration.ofMinutes(5);

    /** When a call that Redis could not answer asks again, as an agent would. */
    private static final Executor LATER = CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS);

    private final Project project;
    private final Call call;
    private final Usage used;
    private final ConcurrentLinkedQueue<Duration> waits = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final AtomicInteger outages = new AtomicInteger();
    private volatile boolean stopped;
    private volatile boolean counts;

    /** @param input what each call is estimated to need and uses; nothing else is limited */
    Flood(Project project, Call call, long input) {
        this.project = project;
        this.call = call.inputTokens(input);
        this.used = new Usage(input, 0, 0, 0);
    }

    /** @param depth how many are always on their way */
    void start(int depth) {
        for (int i = 0; i < depth; i++) {
            ask(true);
        }
    }

    /** One more, once. */
    void ask() {
        ask(false);
    }

    /** Grants count from now on. */
    void count() {
        waits.clear();
        counts = true;
    }

    void stop() {
        counts = false;
        stopped = true;
    }

    /** How often Redis did not answer in time: on a machine that has enough to do already it may. */
    int outages() {
        return outages.get();
    }

    int granted() {
        return waits.size();
    }

    /** How long those that were granted had waited. */
    List<Duration> waits() {
        return List.copyOf(waits);
    }

    /** @throws IllegalStateException a call was refused or failed: none here ever should be */
    void check() {
        Throwable thrown = failure.get();
        if (thrown != null) {
            throw new IllegalStateException("a call of " + project.id() + " failed: " + thrown.getMessage(), thrown);
        }
    }

    private void ask(boolean again) {
        CompletableFuture<Permit> permit = project.acquireAsync(call, MAX_WAIT).toCompletableFuture();
        permit.thenCompose(granted -> {
                    if (counts) {
                        waits.add(granted.waited());
                    }
                    return granted.settleAsync(used);
                })
                .whenComplete((ending, thrown) -> {
                    Throwable e = thrown instanceof CompletionException ? thrown.getCause() : thrown;
                    if (stopped) {
                        return;
                    }
                    if (e instanceof OutageException) {
                        outages.incrementAndGet();
                        LATER.execute(() -> ask(again));
                    } else if (e != null) {
                        failure.compareAndSet(null, e);
                    } else if (again) {
                        ask(true);
                    }
                });
    }
}
