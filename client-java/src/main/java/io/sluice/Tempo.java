package io.sluice;

import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * When a project's next beat is due in this process: one timer, however many permits are held and calls wait.
 *
 * <p>It is the earliest of four instants. A third of the lease after the last renewal; 250 ms after the last beat while
 * calls wait here; the instant at which the last answer said that anything can start, and up to 20 ms more, so that hosts
 * that were told the same instant do not all come at once; and now, when a grant waits to be claimed. Two beats are 20 ms
 * apart unless there is something to claim, and never under way at the same time.
 */
final class Tempo {
    static final long LINE_NS = TimeUnit.MILLISECONDS.toNanos(250);
    static final long GAP_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long SHORTEST_RENEWAL_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private final ScheduledExecutorService timer;
    private final LongSupplier nanoTime;
    private final LongSupplier jitterNs;
    private final Runnable beat;

    /** Instants; {@code null} is never. */
    private @Nullable Long renewAt;

    private @Nullable Long lineAt;
    private boolean urgent;
    private long earliest;
    private long jitter;

    private boolean beating;
    private boolean closed;
    private @Nullable ScheduledFuture<?> alarm;
    private long alarmAt;

    /** @param jitterNs up to {@link #GAP_NS} */
    Tempo(ScheduledExecutorService timer, LongSupplier nanoTime, LongSupplier jitterNs, Runnable beat) {
        this.timer = timer;
        this.nanoTime = nanoTime;
        this.jitterNs = jitterNs;
        this.beat = beat;
        this.earliest = nanoTime.getAsLong();
        this.jitter = jitterNs.getAsLong();
    }

    /** Leases are renewed a third of {@code lease} from now at the latest. */
    synchronized void renewWithin(Duration lease) {
        long at = nanoTime.getAsLong() + Math.max(lease.toNanos() / 3, SHORTEST_RENEWAL_NS);
        renewAt = earlier(renewAt, at);
        schedule();
    }

    /** A call stands in line here. {@code nextUs}: until anything can start, -1 if nobody knows. */
    synchronized void lineWithin(long nextUs) {
        long now = nanoTime.getAsLong();
        lineAt = earlier(lineAt, now + LINE_NS);
        if (nextUs >= 0 && nextUs < TimeUnit.NANOSECONDS.toMicros(LINE_NS)) {
            lineAt = earlier(lineAt, now + TimeUnit.MICROSECONDS.toNanos(nextUs) + jitter);
        }
        schedule();
    }

    /** There is something to claim. */
    synchronized void now() {
        urgent = true;
        schedule();
    }

    /** Work was left: as soon as two beats may follow each other. */
    synchronized void soon() {
        lineAt = earlier(lineAt, nanoTime.getAsLong());
        schedule();
    }

    /** What the beat that begins now is for. */
    record Due(boolean renewal, boolean line) {}

    /** A beat begins, or {@code null} if one is under way or nothing is due yet. */
    synchronized @Nullable Due begin() {
        alarm = null;
        long now = nanoTime.getAsLong();
        Long at = next(now);
        if (beating || closed || at == null || at - now > 0) {
            schedule();
            return null;
        }
        Due due = new Due(renewAt != null && renewAt - now <= 0, lineAt != null && lineAt - now <= 0);
        if (due.renewal) {
            renewAt = null;
        }
        lineAt = null;
        urgent = false;
        beating = true;
        earliest = now + GAP_NS;
        jitter = jitterNs.getAsLong();
        return due;
    }

    /** Its answer came, or will not come. */
    synchronized void end() {
        beating = false;
        schedule();
    }

    synchronized void close() {
        closed = true;
        if (alarm != null) {
            alarm.cancel(false);
        }
    }

    private @Nullable Long next(long now) {
        if (urgent) {
            return now;
        }
        Long line = lineAt == null || lineAt - earliest >= 0 ? lineAt : (Long) earliest;
        return line == null ? renewAt : earlier(renewAt, line);
    }

    private void schedule() {
        long now = nanoTime.getAsLong();
        Long at = next(now);
        if (beating || closed || at == null || (alarm != null && at - alarmAt >= 0)) {
            return;
        }
        if (alarm != null) {
            alarm.cancel(false);
        }
        alarmAt = at;
        alarm = timer.schedule(beat, Math.max(0, at - now), TimeUnit.NANOSECONDS);
    }

    private static Long earlier(@Nullable Long one, long other) {
        return one == null || one - other > 0 ? (Long) other : one;
    }
}
