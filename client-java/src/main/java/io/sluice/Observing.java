package io.sluice;

import io.sluice.PolicyView.Resolved;
import io.sluice.Store.Effect;
import io.sluice.Store.Observation;
import io.sluice.Store.Observations;
import io.sluice.Store.Observed;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the fleet what the provider's answers to this process taught. A rejection at once: what is asked of Redis after it meets
 * the hold. What is left of limits twice a second at most, but sooner where little is, and the newest only. What calls used
 * once a second. Nothing is sent where there is nothing new, and what Redis cannot hear now is dropped and counted: the next
 * answers say it again.
 */
final class Observing {
    private static final Logger log = LoggerFactory.getLogger(Observing.class);
    static final long LEARN_NS = TimeUnit.SECONDS.toNanos(1);
    static final long REMAINING_NS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Where little is left every answer says so. */
    static final long LOW_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final int TRIES = 3;

    /** What closing may still tell: the rest is not worth the wait. */
    private static final int LAST_WORDS = 8;

    private final SluiceClient client;
    private final String project;
    private final PolicyCache policies;
    private final ScheduledExecutorService timer;
    private final LongSupplier nanoTime;
    final Learning learning;

    /** A provider that says something else each time is told of so often, then no more. */
    private static final int MOST_DRIFTS = 100;

    private final Map<String, Heard> remaining = new LinkedHashMap<>();
    private final AtomicInteger underWay = new AtomicInteger();
    private final Set<String> drifts = ConcurrentHashMap.newKeySet();
    private volatile OnHold onHold = (scope, kind, leftUs) -> {};
    private long learnedAt;
    private long remainingAt;
    private boolean telling;
    private boolean closed;
    private @Nullable ScheduledFuture<?> alarm;
    private long alarmAt;

    private record Heard(Remaining remaining, long heardNs) {}

    Observing(
            SluiceClient client,
            String project,
            PolicyCache policies,
            ScheduledExecutorService timer,
            LongSupplier nanoTime) {
        this.client = client;
        this.project = project;
        this.policies = policies;
        this.timer = timer;
        this.nanoTime = nanoTime;
        this.learning = new Learning(client.store, project, this::schedule);
        this.learnedAt = nanoTime.getAsLong() - LEARN_NS;
        this.remainingAt = nanoTime.getAsLong() - REMAINING_NS;
    }

    /** Told of each hold that an answer to this process brought about, or met. */
    interface OnHold {
        void heard(String scope, String kind, long leftUs);
    }

    void onHold(OnHold listener) {
        onHold = listener;
    }

    // ---- what there is to tell

    /** A provider's "no" to a call whose permit was granted then. */
    void rejected(Rejection rejection, Resolved call, long grantedUs) {
        atOnce(Lessons.ofRejection(rejection, call, grantedUs), 1);
    }

    /** All that an answer says but what the call used. */
    void answered(Reading reading, Resolved call, long grantedUs) {
        taught(Lessons.of(reading, call, grantedUs), Remaining.of(reading, call));
    }

    /** What an answer taught, as far as that counts. */
    void taught(List<Observation> lessons, List<Remaining> all) {
        atOnce(lessons, 1);
        if (all.isEmpty()) {
            return;
        }
        long now = nanoTime.getAsLong();
        synchronized (this) {
            for (Remaining one : all) {
                client.meters.remaining(project, one.modelClass(), one.left());
                remaining.merge(
                        one.left().scope() + "|" + one.left().limit(),
                        new Heard(one, now),
                        (known, heard) -> heard.remaining.supersedes(known.remaining) ? heard : known);
            }
        }
        schedule();
    }

    // ---- when

    private synchronized void schedule() {
        long now = nanoTime.getAsLong();
        Long at = next();
        if (telling || closed || at == null || (alarm != null && at - alarmAt >= 0)) {
            return;
        }
        if (alarm != null) {
            alarm.cancel(false);
        }
        alarmAt = at;
        alarm = timer.schedule(this::tell, Math.max(0, at - now), TimeUnit.NANOSECONDS);
    }

    private @Nullable Long next() {
        Long learn = learning.hasNews() ? (Long) (learnedAt + LEARN_NS) : null;
        if (remaining.isEmpty()) {
            return learn;
        }
        long left = remainingAt + (isLow() ? LOW_NS : REMAINING_NS);
        return learn != null && learn - left < 0 ? learn : (Long) left;
    }

    private boolean isLow() {
        return remaining.values().stream().anyMatch(heard -> heard.remaining.isLow());
    }

    private void tell() {
        List<Observation> all;
        synchronized (this) {
            alarm = null;
            all = telling || closed ? List.of() : due(false);
            telling |= !all.isEmpty();
        }
        if (all.isEmpty()) {
            schedule();
            return;
        }
        send(all).whenComplete((observed, e) -> {
            synchronized (this) {
                telling = false;
            }
            schedule();
        });
    }

    private List<Observation> due(boolean all) {
        long now = nanoTime.getAsLong();
        List<Observation> due = new ArrayList<>();
        if (all || remainingAt + (isLow() ? LOW_NS : REMAINING_NS) - now <= 0) {
            Iterator<Heard> each = remaining.values().iterator();
            while (each.hasNext() && due.size() < Observations.MOST) {
                Heard one = each.next();
                due.add(one.remaining.aged(Math.max(0, TimeUnit.NANOSECONDS.toMicros(now - one.heardNs))));
                each.remove();
                remainingAt = now;
            }
        }
        if (all || learnedAt + LEARN_NS - now <= 0) {
            List<Observation.Learn> learned = learning.take(Observations.MOST - due.size());
            learnedAt = learned.isEmpty() ? learnedAt : now;
            due.addAll(learned);
        }
        return due;
    }

    // ---- telling

    private void atOnce(List<Observation> observations, int attempt) {
        if (observations.isEmpty()) {
            return;
        }
        ask(observations).whenComplete((observed, e) -> {
            boolean timeout = e != null
                    && Blocking.cause(e) instanceof OutageException outage
                    && outage.reason().equals("timeout");
            if (timeout && attempt < TRIES) {
                atOnce(observations, attempt + 1); // twice the same is once
            } else {
                heard(observations, observed, e);
            }
        });
    }

    private CompletionStage<Observed> send(List<Observation> observations) {
        return ask(observations).whenComplete((observed, e) -> heard(observations, observed, e));
    }

    private CompletionStage<Observed> ask(List<Observation> observations) {
        underWay.incrementAndGet();
        CompletionStage<Observed> asked;
        try {
            asked = client.store.observe(new Observations(project, client.host, observations));
        } catch (RuntimeException e) {
            asked = CompletableFuture.failedStage(e);
        }
        return asked.whenComplete((observed, e) -> underWay.decrementAndGet());
    }

    private void heard(List<Observation> told, @Nullable Observed observed, @Nullable Throwable e) {
        if (!(observed instanceof Observed.Done done)) {
            client.meters.unobserved(project, told.size());
            log.debug("{}: {} observations dropped: {}", project, told.size(), e == null ? observed : e.getMessage());
            return;
        }
        policies.heard(done.stamp());
        for (int i = 0; i < told.size(); i++) {
            Effect effect = done.effects().get(i);
            if (effect instanceof Effect.Holding holding && told.get(i) instanceof Observation.Hold hold) {
                client.meters.hold(project, hold.scope(), holding.leftUs());
                onHold.heard(hold.scope(), hold.kind(), holding.leftUs());
            } else if (effect instanceof Effect.Knows knows) {
                learning.knows(knows);
            } else if (effect instanceof Effect.Tightened tightened
                    && tightened.drift()
                    && told.get(i) instanceof Observation.Left left
                    && drifts.size() < MOST_DRIFTS
                    && drifts.add(left.scope() + "|" + left.limit() + "|" + left.statedAmount())) {
                log.warn(
                        "{}: the provider's limit for {} of {} is {}, the policy's {}",
                        project,
                        left.limit(),
                        left.scope(),
                        left.statedAmount(),
                        left.policyAmount());
            }
        }
    }

    /** Tells the rest. Completes when everything that was told is answered. */
    CompletableFuture<Void> close() {
        synchronized (this) {
            closed = true;
            if (alarm != null) {
                alarm.cancel(false);
            }
        }
        for (int i = 0; i < LAST_WORDS; i++) {
            List<Observation> rest;
            synchronized (this) {
                rest = due(true);
            }
            if (rest.isEmpty()) {
                break;
            }
            send(rest);
        }
        CompletableFuture<Void> done = new CompletableFuture<>();
        whenQuiet(done);
        return done;
    }

    private void whenQuiet(CompletableFuture<Void> done) {
        if (underWay.get() == 0) {
            done.complete(null);
        } else if (!client.timer.isShutdown()) {
            client.timer.schedule(() -> whenQuiet(done), 5, TimeUnit.MILLISECONDS);
        }
    }
}
