package io.sluice;

import io.sluice.LocalBudget.Obstacle;
import io.sluice.Store.OnHold;
import io.sluice.Store.Queued;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls that wait in this process for its share, because Redis does not answer: the urgent first, within one priority in the order
 * of their coming. As in Redis nobody takes what an earlier call is short on, and what is another class's concern keeps nobody
 * waiting. Whoever leaves for Redis and comes back has its old place.
 */
final class LocalLine {
    private static final long SOONEST_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ScheduledExecutorService timer;
    private final LocalBudget budget;
    private final Outcomes outcomes;
    private final LongSupplier nanoTime;
    private final TreeMap<Place, Waiter> line = new TreeMap<>();
    private long arrivals;
    private @Nullable ScheduledFuture<?> alarm;
    private long alarmAt;

    /** Where a call stands. */
    record Place(Priority priority, long arrival) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            int byPriority = priority.compareTo(other.priority);
            return byPriority != 0 ? byPriority : Long.compare(arrival, other.arrival);
        }
    }

    /** What one round came to, to be told once the lock is free. */
    private static final class Round {
        final List<Runnable> news = new ArrayList<>();
        final Set<Object> closed = new HashSet<>();
        long nextNs = LocalLimit.NEVER;

        /** Why the one that this round is for did not start; {@code null} if it did. */
        @Nullable
        Obstacle obstacle;
    }

    LocalLine(ScheduledExecutorService timer, LocalBudget budget, Outcomes outcomes, LongSupplier nanoTime) {
        this.timer = timer;
        this.budget = budget;
        this.outcomes = outcomes;
        this.nanoTime = nanoTime;
        budget.onFreed(this::dispatch);
    }

    /** A call that Redis cannot answer, resolved already: a permit, a place, or a "no". */
    void enter(Waiter waiter, OutageException outage) {
        Round round;
        boolean isNew;
        synchronized (this) {
            Policy policy = waiter.asked().view().policy;
            isNew = waiter.place == null;
            Place place = isNew ? new Place(waiter.call.priority, ++arrivals) : waiter.place;
            boolean full = isNew && !waiter.once && line.size() >= policy.maxWaiters();
            waiter.place = place;
            line.put(place, waiter);
            round = round(waiter);
            Obstacle obstacle = round.obstacle;
            RuntimeException no = obstacle == null ? null : refusal(waiter, obstacle, full, outage);
            if (no != null) {
                line.remove(place);
                round.news.add(() -> outcomes.failed(waiter, no));
            } else if (obstacle != null) {
                round.news.add(() -> outcomes.standsHere(waiter, queued(obstacle, line.size())));
            }
            schedule(round.nextNs);
        }
        round.news.forEach(Runnable::run);
        if (isNew) {
            waiter.result.whenComplete((permit, e) -> leave(waiter));
        }
    }

    /** Lets start whatever can. */
    void dispatch() {
        Round round;
        synchronized (this) {
            if (line.isEmpty()) {
                return;
            }
            round = round(null);
            schedule(round.nextNs);
        }
        round.news.forEach(Runnable::run);
    }

    private void rings() {
        synchronized (this) {
            alarm = null;
        }
        dispatch();
    }

    synchronized int size() {
        return line.size();
    }

    /** The first in line, which from now on asks Redis again; {@code null} if nobody waits. */
    synchronized @Nullable Waiter first() {
        Map.Entry<Place, Waiter> first = line.pollFirstEntry();
        return first == null ? null : first.getValue();
    }

    /** All of them, in order: Redis answers. */
    synchronized List<Waiter> leaveAll() {
        List<Waiter> all = List.copyOf(line.values());
        line.clear();
        return all;
    }

    private void leave(Waiter waiter) {
        boolean left;
        synchronized (this) {
            left = waiter.place != null && line.remove(waiter.place, waiter);
        }
        if (left) {
            dispatch();
        }
    }

    private Round round(@Nullable Waiter asks) {
        Round round = new Round();
        for (Map.Entry<Place, Waiter> one : List.copyOf(line.entrySet())) {
            Waiter waiter = one.getValue();
            if (waiter.isDone()) {
                line.remove(one.getKey());
                continue;
            }
            Object result = start(waiter, round);
            if (result instanceof Obstacle obstacle) {
                round.closed.addAll(obstacle.shortOn());
                if (!obstacle.shortOn().isEmpty()) {
                    round.nextNs = Math.min(round.nextNs, obstacle.waitNs());
                }
                if (waiter == asks) {
                    round.obstacle = obstacle;
                }
            } else if (result instanceof LivePermit permit) {
                line.remove(one.getKey());
                round.news.add(() -> outcomes.granted(waiter, permit));
            }
        }
        return round;
    }

    /** A {@link LivePermit} or an {@link Obstacle}. */
    private Object start(Waiter waiter, Round round) {
        LivePermit running = outcomes.runsHere(waiter);
        if (running != null) {
            return running;
        }
        Object result = budget.tryTake(waiter.asked(), round.closed);
        return result instanceof LocalGrant grant ? outcomes.permit(waiter, grant) : result;
    }

    /** Why it need not wait; nothing, if it may. */
    private @Nullable RuntimeException refusal(
            Waiter waiter, Obstacle obstacle, boolean lineIsFull, OutageException outage) {
        String project = waiter.asked().view().policy.project();
        if (obstacle.waitNs() == LocalLimit.NEVER) {
            return new OutageException(
                    outage.reason(),
                    project + ": Redis is out (" + outage.reason() + "), and this host's share of " + obstacle.limit()
                            + " of " + obstacle.scope() + " is too small for the call",
                    outage);
        }
        long left = waiter.leftNs(waiter.asked().view().policy, nanoTime.getAsLong());
        OnHold hold = obstacle.hold();
        if (hold != null && (waiter.once || obstacle.waitNs() > left)) {
            return new RefusedException(Refusals.hold(project, hold));
        }
        if (waiter.once) {
            return new RefusedException(
                    Refusals.here(Refusals.wait(Refusal.Kind.WAIT, project, queued(obstacle, line.size()))));
        }
        if (lineIsFull) {
            int most = waiter.asked().view().policy.maxWaiters();
            Store.Answer.Full answer = new Store.Answer.Full(line.size() - 1L, most, "line");
            return new RefusedException(Refusals.here(Refusals.of(project, waiter.call, answer)));
        }
        return null;
    }

    private static Queued queued(Obstacle obstacle, int position) {
        long us = TimeUnit.NANOSECONDS.toMicros(obstacle.waitNs()) + 1;
        return new Queued(us, obstacle.exact() ? us : 0, obstacle.scope(), obstacle.limit(), position);
    }

    private void schedule(long nextNs) {
        if (nextNs >= LocalLimit.NEVER - 1 || timer.isShutdown()) {
            return;
        }
        long at = nanoTime.getAsLong() + Math.max(SOONEST_NS, nextNs);
        if (alarm != null && alarmAt - at <= 0) {
            return;
        }
        if (alarm != null) {
            alarm.cancel(false);
        }
        alarmAt = at;
        alarm = timer.schedule(this::rings, Math.max(SOONEST_NS, nextNs), TimeUnit.NANOSECONDS);
    }
}
