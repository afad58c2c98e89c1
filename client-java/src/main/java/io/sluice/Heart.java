package io.sluice;

import io.sluice.Store.Beat;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.News;
import io.sluice.Store.Place;
import java.time.Duration;
import java.util.ArrayList;
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
    private final OutageRule rule;
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
            OutageRule rule,
            LongSupplier nanoTime) {
        this.client = project.client;
        this.project = project.id();
        this.tempo = tempo;
        this.policies = policies;
        this.held = held;
        this.waiters = waiters;
        this.asking = asking;
        this.outcomes = outcomes;
        this.rule = rule;
        this.packer = new Load.Packer(tempo, held, waiters, nanoTime);
    }

    /** A hint: these were granted in the line. */
    void granted(List<String> ids) {
        if (packer.claim(ids)) {
            tempo.now();
        }
    }

    /** A beat as soon as may be: a sign of life, and the question whether Redis is alive. */
    void greet() {
        packer.greet();
        tempo.soon();
    }

    /** A permit that was given without Redis: the beats tell of it until Redis has heard. */
    void givenHere(LivePermit permit) {
        packer.isUnknown(permit);
        tempo.renewWithin(LEASE_AFTER_SILENCE);
    }

    /** Keeps a permit of the desk: what became of it, once a beat has told. */
    CompletionStage<Store.Renewal> renew(Store.PermitName name) {
        Renewing renewing = new Renewing(name);
        packer.renew(renewing);
        tempo.now();
        return renewing.result;
    }

    /** Redis does not know a permit of the desk: whether it has its slots again, once a beat has told. */
    CompletionStage<Boolean> assertAgain(LivePermit permit) {
        CompletableFuture<Boolean> asserted = permit.assertedAnew();
        packer.isUnknown(permit);
        tempo.soon();
        return asserted;
    }

    /**
     * More is known of what calls use: those that stand in line for far more than they need ask again, in their places. Else a
     * fleet that begins all at once would be let in one by one, as large as each call's cap says, until the last has passed.
     */
    void learned() {
        if (waiters.standing() == 0) {
            return;
        }
        for (Waiter waiter : waiters.all()) {
            if (waiter.state.get() == Waiter.State.STANDING && asking.asksForLess(waiter)) {
                waiters.toAsk(waiter.name.id()).forEach(asking::ask);
            }
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

    /** Completes when it is over, whatever came of it. */
    private CompletionStage<?> send(Load load) {
        long sent = System.nanoTime();
        return ask(load).handle((answer, e) -> {
            try {
                answered(load, answer, e, sent);
            } catch (RuntimeException failure) {
                log.error("{}: a beat went wrong", project, failure);
            } finally {
                tempo.end();
            }
            return load;
        });
    }

    private CompletionStage<Beat> ask(Load load) {
        try {
            return client.store.beat(
                    new BeatAsk(project, client.host, load.names(), load.claims(), load.looks(), load.assertions()));
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    private void answered(Load load, @Nullable Beat answer, @Nullable Throwable e, long sentNs) {
        if (answer instanceof Beat.Alive alive) {
            heard(load, alive, sentNs);
        } else if (answer instanceof Beat.Lost lost) {
            lost(load, lost.what());
        } else {
            unheard(load, e == null ? new IllegalStateException("no answer") : Blocking.cause(e));
        }
    }

    private void heard(Load load, Beat.Alive alive, long sentNs) {
        failed = 0;
        mended = 0;
        policies.heard(alive.stamp());
        outcomes.clock.heard(alive.nowUs());
        rule.beats();
        for (int i = 0; i < load.renew().size(); i++) {
            LivePermit permit = load.renew().get(i);
            switch (alive.renewed().get(i)) {
                case RENEWED -> permit.renewed(sentNs);
                case UNKNOWN -> packer.isUnknown(permit);
                case LOST -> held.lost(permit);
            }
        }
        for (int i = 0; i < load.renewals().size(); i++) {
            load.renewals()
                    .get(i)
                    .result
                    .complete(alive.renewed().get(load.renew().size() + i));
        }
        for (int i = 0; i < load.asserts().size(); i++) {
            LivePermit permit = load.asserts().get(i);
            permit.isKnown();
            permit.asserted.complete(alive.asserted().get(i));
            if (alive.asserted().get(i)) {
                permit.renewed(sentNs);
                tempo.renewWithin(permit.lease());
            } else {
                // It may be known because a beat whose answer was lost has told of it: the next renewal says.
                tempo.renewWithin(LEASE_AFTER_SILENCE);
            }
        }
        for (int i = 0; i < load.claims().size(); i++) {
            stands(load.claims().get(i), alive.claims().get(i));
        }
        for (News one : alive.news()) {
            stands(one.id(), one.place());
        }
        outcomes.waitEnds.onHold(alive.holds());
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
        if (packer.isUrgent()) {
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
        OutageException outage =
                new OutageException("lost_state", "project " + project + ": its state is damaged: " + what, null);
        load.renewals().forEach(one -> one.result.completeExceptionally(outage));
        load.asserts().forEach(permit -> permit.asserted.completeExceptionally(outage));
        PolicyView known = policies.cached();
        if (waiters.standing() == 0 || known == null) {
            return;
        }
        if (++mended > MENDS) {
            rule.silent(outage);
            return;
        }
        packer.takeBack(load);
        asking.mended(known).whenComplete((view, e) -> {
            if (e != null
                    && Blocking.cause(e) instanceof OutageException why
                    && why.reason().equals("no_project")) {
                // It was removed: nobody will ever serve them.
                waiters.all().forEach(waiter -> waiter.result.completeExceptionally(why));
            }
            tempo.lineWithin(e == null ? 0 : -1);
        });
    }

    /** Two beats missed in a row would be a short lease lost; three, and calls that wait here count as unanswered. */
    private void unheard(Load load, Throwable e) {
        log.debug("{}: no beat: {}", project, e.getMessage());
        renewAgain(load, e);
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
            packer.keepAsserts(load);
            rule.silent(e);
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

    /** What the desk's callers wait for. */
    private void renewAgain(Load load, Throwable e) {
        boolean chance = e instanceof OutageException outage && outage.reason().equals("timeout");
        for (Renewing one : load.renewals()) {
            if (chance && one.triesAgain()) {
                packer.renew(one);
                tempo.now();
            } else {
                one.result.completeExceptionally(e);
            }
        }
    }

    /**
     * The last beats tell of permits of the desk that Redis does not know: their callers will ask for them elsewhere. Completes when
     * they are answered, or will not be.
     */
    CompletableFuture<Void> close() {
        tempo.close();
        // All of them first: what does not arrive is to be told again, and nobody will.
        List<Load> untold = new ArrayList<>();
        for (Load load = packer.untold(); !load.asserts().isEmpty(); load = packer.untold()) {
            untold.add(load);
        }
        packer.close();
        return CompletableFuture.allOf(
                untold.stream().map(load -> send(load).toCompletableFuture()).toArray(CompletableFuture[]::new));
    }
}
