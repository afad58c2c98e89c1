package io.sluice;

import io.sluice.Store.Beat;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.News;
import io.sluice.Store.Place;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What keeps the permits and waiting calls of one project in this process alive: beats, one at a time, whenever
 * {@link Tempo} says so. Each is one script: it renews leases (when that is due), claims what was granted in the line, and
 * looks after some of the calls that stand in it, in turn, so that what Redis lost is noticed and submitted again.
 */
final class Heart {
    private static final Logger log = LoggerFactory.getLogger(Heart.class);

    /** After this many beats in a row without an answer Redis counts as out, for calls that wait as for calls that ask. */
    private static final int TRIES = 3;

    private static final int MENDS = 8;
    private static final Duration LEASE_AFTER_SILENCE = Duration.ofMillis(600);

    private final SluiceClient client;
    private final String project;
    private final Tempo tempo;
    private final PolicyCache policies;
    private final Held held;
    private final Waiters waiters;
    private final Asking asking;
    private final Outcomes outcomes;
    private final Load.Packer packer;
    private int failed;
    private int mended;

    Heart(
            ProjectClient project,
            Tempo tempo,
            PolicyCache policies,
            Held held,
            Waiters waiters,
            Asking asking,
            Outcomes outcomes,
            LongSupplier nanoTime) {
        this.client = project.client;
        this.project = project.id();
        this.tempo = tempo;
        this.policies = policies;
        this.held = held;
        this.waiters = waiters;
        this.asking = asking;
        this.outcomes = outcomes;
        this.packer = new Load.Packer(tempo, held, waiters, nanoTime);
    }

    /** A hint: these were granted in the line. */
    void granted(List<String> ids) {
        if (packer.claim(ids)) {
            tempo.now();
        }
    }

    /** Beats, if a beat is due, none is under way, and there is anything to say. */
    void beat() {
        Tempo.Due due = tempo.begin();
        if (due == null) {
            return;
        }
        Load load = packer.next(due);
        if (load.isEmpty()) {
            tempo.end();
        } else {
            send(load);
        }
    }

    private void send(Load load) {
        long sent = System.nanoTime();
        ask(load).whenComplete((answer, e) -> {
            client.meters.script("beat", Duration.ofNanos(System.nanoTime() - sent));
            try {
                answered(load, answer, e);
            } catch (RuntimeException failure) {
                log.error("{}: a beat went wrong", project, failure);
            } finally {
                tempo.end();
            }
        });
    }

    private CompletionStage<Beat> ask(Load load) {
        try {
            return client.store.beat(new BeatAsk(project, client.host, load.names(), load.claims(), load.looks()));
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private void answered(Load load, @Nullable Beat answer, @Nullable Throwable e) {
        if (answer instanceof Beat.Alive alive) {
            heard(load, alive);
        } else if (answer instanceof Beat.Lost lost) {
            lost(load, lost.what());
        } else {
            unheard(load, e == null ? new IllegalStateException("no answer") : Blocking.cause(e));
        }
    }

    private void heard(Load load, Beat.Alive alive) {
        failed = 0;
        mended = 0;
        policies.heard(alive.stamp());
        for (int i = 0; i < load.renew().size(); i++) {
            if (!alive.renewed().get(i)) {
                held.lost(load.renew().get(i));
            }
        }
        for (int i = 0; i < load.claims().size(); i++) {
            stands(load.claims().get(i), alive.claims().get(i));
        }
        for (News one : alive.news()) {
            stands(one.id(), one.place());
        }
        outcomes.onHold(alive.holds());
        boolean lostSome = false;
        for (int i = 0; i < load.looks().size(); i++) {
            lostSome |= stands(load.looks().get(i), alive.looks().get(i));
        }
        if (lostSome) {
            packer.looksNow(); // where one was lost others may be
        }
        if (alive.more()) {
            packer.more();
        }
        if (packer.isHeavy()) {
            tempo.soon();
        }
        if (waiters.standing() > 0) {
            tempo.lineWithin(alive.nextUs());
        }
        if (packer.hasClaims()) {
            tempo.now();
        }
    }

    /** Returns whether it is submitted again. */
    private boolean stands(String id, Place place) {
        if (place instanceof Place.Running running) {
            outcomes.claimed(id, running);
        } else if (place instanceof Place.ToClaim) {
            packer.claim(List.of(id));
        } else if (place instanceof Place.ToSubmit) {
            List<Waiter> again = waiters.toAsk(id);
            again.forEach(asking::ask);
            return !again.isEmpty();
        } else if (place instanceof Place.InLine line && line.queued() != null) {
            outcomes.told(id, line.queued());
        }
        return false;
    }

    /** The project lost its state and with it the line: it gets its policy back, and calls that wait here a new place. */
    private void lost(Load load, String what) {
        failed = 0;
        PolicyView known = policies.cached();
        if (waiters.standing() == 0 || known == null) {
            return;
        }
        if (++mended > MENDS) {
            outcomes.outage(
                    new OutageException("lost_state", "project " + project + ": its state is damaged: " + what, null));
            return;
        }
        packer.takeBack(load);
        asking.mended(known).whenComplete((view, e) -> tempo.lineWithin(e == null ? 0 : -1));
    }

    /** Two beats missed in a row would be a short lease lost; three, and calls that wait here count as unanswered. */
    private void unheard(Load load, Throwable e) {
        log.debug("{}: no beat: {}", project, e.getMessage());
        tempo.renewWithin(LEASE_AFTER_SILENCE);
        String reason = e instanceof OutageException outage ? outage.reason() : "";
        if (reason.equals("wrongtype")) {
            lost(load, reason);
            return;
        }
        // While it is disconnected every beat fails at once: then the breaker decides.
        if (!reason.equals("disconnected")) {
            failed++;
        }
        if (failed >= TRIES || reason.equals("breaker")) {
            failed = 0;
            outcomes.outage(e);
            return;
        }
        packer.takeBack(load);
        if (waiters.standing() > 0) {
            if (reason.equals("timeout")) {
                tempo.soon();
            } else {
                tempo.lineWithin(-1);
            }
        }
    }

    /** The last beat gives whoever still uses a permit a whole lease for it. */
    void close() {
        tempo.close();
        for (List<LivePermit> part : held.parts(Load.Packer.RENEWALS)) {
            send(new Load(true, part, List.of(), List.of()));
        }
    }
}
