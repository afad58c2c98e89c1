package io.sluice;

import io.sluice.Store.Answer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How calls of this process that do not fit wait: first come, first served in each class. The first of a class sleeps the
 * exact wait it was told and asks again, or is woken when a slot became free; the others sleep until it is their turn. So a
 * process asks once a wait, however many of its calls wait.
 *
 * <p>Between processes nothing is promised here: whoever asks first after a refill gets it.
 */
final class Line {
    /** A wait for a slot is only an estimate, and the message that one is free can be lost. */
    private static final long LONGEST_SLEEP_US = 1_000_000;

    /** Processes that wait for the same refill do not all wake in the same instant. */
    private static final long JITTER_US = 2_000;

    private final ScheduledExecutorService timer;
    private final Consumer<Waiter> askAgain;
    private final Map<String, ArrayDeque<Waiter>> waiting = new HashMap<>();
    private final Map<String, ScheduledFuture<?>> alarms = new HashMap<>();
    private long wakes;

    Line(ScheduledExecutorService timer, Consumer<Waiter> askAgain) {
        this.timer = timer;
        this.askAgain = askAgain;
    }

    /** How often something became free. */
    synchronized long wakes() {
        return wakes;
    }

    /**
     * A call was told to wait: at the head of its class if it stood there before, else at the tail. It asks again at once
     * if something became free after it had asked: that news can overtake the answer.
     */
    void add(String modelClass, Waiter waiter, Answer.Wait why) {
        Waiter next = null;
        boolean missed;
        synchronized (this) {
            String place = waiter.place;
            if (place != null && !place.equals(modelClass)) {
                next = leave(waiter, place); // another policy, another class
            }
            ArrayDeque<Waiter> queue = waiting.computeIfAbsent(modelClass, c -> new ArrayDeque<>());
            if (waiter.place == null) {
                waiter.place = modelClass;
                queue.addLast(waiter);
            }
            boolean first = queue.peekFirst() == waiter;
            missed = first && waiter.askedAtWake != wakes;
            if (first) {
                sleep(modelClass, why);
            }
        }
        if (next != null) {
            askAgain.accept(next);
        }
        if (missed) {
            askAgain.accept(waiter);
        }
    }

    /** A call waits no longer, for whatever reason; the next of its class asks. */
    void remove(Waiter waiter) {
        if (waiter.place == null) {
            return;
        }
        Waiter next;
        synchronized (this) {
            String place = waiter.place;
            next = place == null ? null : leave(waiter, place);
        }
        if (next != null) {
            askAgain.accept(next);
        }
    }

    /** Returns whose turn it is now, if that changed. */
    private @Nullable Waiter leave(Waiter waiter, String place) {
        waiter.place = null;
        ArrayDeque<Waiter> queue = waiting.get(place);
        if (queue == null) {
            return null;
        }
        boolean first = queue.peekFirst() == waiter;
        queue.remove(waiter);
        if (queue.isEmpty()) {
            waiting.remove(place);
            cancel(alarms.remove(place));
        }
        return first ? queue.peekFirst() : null;
    }

    /** Something became free: the first of each class asks. */
    void wake() {
        List<Waiter> heads = new ArrayList<>();
        synchronized (this) {
            wakes++;
            waiting.values().forEach(queue -> heads.add(queue.getFirst()));
        }
        heads.forEach(askAgain);
    }

    /** Nobody's turn comes any more. */
    void end(Consumer<Waiter> refuse) {
        List<Waiter> all = new ArrayList<>();
        synchronized (this) {
            waiting.values().forEach(all::addAll);
            waiting.clear();
            alarms.values().forEach(Line::cancel);
            alarms.clear();
        }
        all.forEach(refuse);
    }

    synchronized int size() {
        return waiting.values().stream().mapToInt(ArrayDeque::size).sum();
    }

    /** From 1, or 0 if it does not wait here. */
    synchronized int position(String modelClass, Waiter waiter) {
        int position = 0;
        for (Waiter one : waiting.getOrDefault(modelClass, new ArrayDeque<>())) {
            position++;
            if (one == waiter) {
                return position;
            }
        }
        return 0;
    }

    private void sleep(String modelClass, Answer.Wait why) {
        long us = why.exactUs() == why.waitUs() ? why.waitUs() : Math.min(why.waitUs(), LONGEST_SLEEP_US);
        long jitter = ThreadLocalRandom.current().nextLong(JITTER_US);
        cancel(alarms.put(modelClass, timer.schedule(() -> head(modelClass), us + jitter, TimeUnit.MICROSECONDS)));
    }

    private void head(String modelClass) {
        Waiter first;
        synchronized (this) {
            ArrayDeque<Waiter> queue = waiting.get(modelClass);
            first = queue == null ? null : queue.peekFirst();
        }
        if (first != null) {
            askAgain.accept(first);
        }
    }

    private static void cancel(@Nullable ScheduledFuture<?> alarm) {
        if (alarm != null) {
            alarm.cancel(false);
        }
    }
}
