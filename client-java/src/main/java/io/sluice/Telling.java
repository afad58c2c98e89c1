package io.sluice;

import io.sluice.Records.Heard;
import io.sluice.Records.Tally;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells Redis what this process counted of one project: about a second after the first of it, and when it is closed. Each part once: it
 * has a number, and one that was not answered is told again as it was, with its number, before the next. What was counted
 * meanwhile waits for that. A part that nobody has answered for half an hour is given up, because Redis remembers numbers for an hour.
 *
 * <p>If the process is killed, what it counted in its last second is lost.
 */
final class Telling {
    private static final Logger log = LoggerFactory.getLogger(Telling.class);
    static final long EVERY_MS = 1_000;

    /** What no call can help soon: a project that is gone, rights that are missing. */
    private static final long LATER_MS = 30_000;

    private static final long GIVEN_UP_NS = TimeUnit.MINUTES.toNanos(30);

    private final SluiceClient client;
    private final String project;

    /** This life of the host: another has numbers of its own. */
    private final String teller = RandomIds.next();

    private Batch batch = new Batch();
    private long seq;

    /** Cut and not answered yet. */
    private @Nullable Tally told;

    private long toldAtNs;

    /** Done when that has an answer, or fails. */
    private @Nullable CompletableFuture<Void> underWay;

    private @Nullable ScheduledFuture<?> alarm;
    private boolean warned;
    private boolean closed;

    Telling(SluiceClient client, String project) {
        this.client = client;
        this.project = project;
    }

    /** Counts something. */
    synchronized void count(Consumer<Batch> what) {
        what.accept(batch);
        later(EVERY_MS);
    }

    private synchronized void later(long ms) {
        if (alarm == null && underWay == null && !closed && !client.timer.isShutdown() && hasNews()) {
            alarm = client.timer.schedule(this::onTime, ms, TimeUnit.MILLISECONDS);
        }
    }

    private boolean hasNews() {
        return told != null || !batch.isEmpty();
    }

    private void onTime() {
        synchronized (this) {
            alarm = null;
        }
        tell().exceptionally(e -> null);
    }

    /** Tells all there is at this moment. */
    CompletionStage<Void> flush() {
        CompletableFuture<Void> running;
        synchronized (this) {
            running = underWay;
        }
        if (running != null) {
            // What it was cut without is told after it.
            return running.handle((done, e) -> e).thenCompose(ignored -> flush());
        }
        return tell();
    }

    private CompletionStage<Void> tell() {
        Tally next;
        CompletableFuture<Void> mine;
        synchronized (this) {
            if (underWay != null) {
                return underWay;
            }
            next = next();
            if (next == null) {
                return CompletableFuture.completedStage(null);
            }
            mine = new CompletableFuture<>();
            underWay = mine;
        }
        send(next).whenComplete((heard, e) -> {
            boolean more = answered(heard, e);
            if (more) {
                tell().whenComplete((done, failed) -> finish(mine, failed));
            } else {
                finish(mine, e);
            }
        });
        return mine;
    }

    private static void finish(CompletableFuture<Void> mine, @Nullable Throwable e) {
        if (e == null) {
            mine.complete(null);
        } else {
            mine.completeExceptionally(Blocking.cause(e));
        }
    }

    private @Nullable Tally next() {
        long now = System.nanoTime();
        if (told != null && now - toldAtNs > GIVEN_UP_NS) {
            log.warn("{}: what this process counted in a second is lost: no answer to it for half an hour", project);
            told = null;
        }
        if (told == null && !batch.isEmpty()) {
            told = batch.cut(project, teller, ++seq);
            toldAtNs = now;
        }
        return told;
    }

    private CompletionStage<Heard> send(Tally tally) {
        try {
            return client.store.records().tally(tally);
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /** Whether there is more to tell at once. */
    private boolean answered(@Nullable Heard heard, @Nullable Throwable e) {
        boolean more;
        synchronized (this) {
            underWay = null;
            if (heard == Heard.YES) {
                told = null;
            }
            more = heard == Heard.YES && !batch.isEmpty();
        }
        if (!more) {
            later(heard == Heard.LOST || isRefused(e) ? LATER_MS : EVERY_MS);
        }
        return more;
    }

    private boolean isRefused(@Nullable Throwable e) {
        if (e == null
                || !(Blocking.cause(e) instanceof OutageException outage)
                || !outage.reason().equals("noperm")) {
            return false;
        }
        if (!warned) {
            warned = true;
            log.warn("{}: what calls use is not counted: {}", project, outage.getMessage());
        }
        return true;
    }

    /** Tells the rest; whoever closes does not wait for long. */
    CompletableFuture<Void> close() {
        CompletableFuture<Void> done = flush().toCompletableFuture();
        synchronized (this) {
            closed = true;
        }
        return done.exceptionally(e -> {
            log.debug("{}: the last of what was counted was not told: {}", project, e.getMessage());
            return null;
        });
    }
}
