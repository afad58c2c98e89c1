package io.sluice;

import io.sluice.Store.Beat;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.News;
import io.sluice.Store.PermitName;
import io.sluice.Store.Place;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What keeps the permits and waiting calls of one project in this process alive: beats, one at a time, whenever
 * {@link Tempo} says so. Each is one script: it renews leases (when that is due), claims what was granted in the line, and
 * looks after some of the calls that stand in it, in turn, so that what Redis lost is noticed and submitted again.
 */
final class Heart {
    private static final Logger log = LoggerFactory.getLogger(Heart.class);
    private static final int RENEWALS = 500;
    private static final int CLAIMS = 64;
    private static final int LOOKS = 32;

    /** A beat that comes earlier than this after the last looks takes none along: they are most of its work in Redis. */
    private static final long LOOKS_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final int TRIES = 3;
    private static final int MENDS = 8;
    private static final Duration LEASE_WHILE_IDLE = Duration.ofSeconds(30);
    private static final Duration LEASE_AFTER_SILENCE = Duration.ofMillis(600);

    private final SluiceClient client;
    private final String project;
    private final Tempo tempo;
    private final PolicyCache policies;
    private final Held held;
    private final Waiters waiters;
    private final Asking asking;
    private final Outcomes outcomes;

    /** Permits to renew that did not fit into one beat. */
    private final Deque<List<LivePermit>> renewals = new ArrayDeque<>();

    /** Granted in the line, and not claimed yet. */
    private final Set<String> claims = new LinkedHashSet<>();

    private boolean more;
    private boolean looksNow = true;
    private long lookedNs;
    private int failed;
    private int mended;

    Heart(
            ProjectClient project,
            Tempo tempo,
            PolicyCache policies,
            Held held,
            Waiters waiters,
            Asking asking,
            Outcomes outcomes) {
        this.client = project.client;
        this.project = project.id();
        this.tempo = tempo;
        this.policies = policies;
        this.held = held;
        this.waiters = waiters;
        this.asking = asking;
        this.outcomes = outcomes;
    }

    /** A hint: these were granted in the line. */
    void granted(List<String> ids) {
        boolean any = false;
        synchronized (claims) {
            for (String id : ids) {
                any |= claims.add(id);
            }
        }
        if (any) {
            tempo.now();
        }
    }

    /** Beats, if one is due and none is under way. */
    void beat() {
        Tempo.Due due = tempo.begin();
        if (due == null) {
            return;
        }
        Load load = load(due);
        if (load.isEmpty()) {
            tempo.end();
            return;
        }
        send(load);
    }

    /** What one beat carries. */
    private record Load(boolean asked, List<LivePermit> renew, List<String> claims, List<String> looks) {
        boolean isEmpty() {
            return !asked && renew.isEmpty() && claims.isEmpty();
        }
    }

    private Load load(Tempo.Due due) {
        if (due.renewal()) {
            renewals.clear();
            renewals.addAll(held.parts(RENEWALS));
            tempo.renewWithin(held.shortestLease(LEASE_WHILE_IDLE));
        }
        List<LivePermit> renew = renewals.isEmpty() ? List.of() : renewals.removeFirst();
        List<String> now;
        synchronized (claims) {
            now = claims.stream().limit(CLAIMS).toList();
            now.forEach(claims::remove);
        }
        boolean line = waiters.standing() > 0;
        List<String> looks = List.of();
        if (line && (looksNow || System.nanoTime() - lookedNs >= LOOKS_NS)) {
            looks = waiters.turn(LOOKS);
            lookedNs = System.nanoTime();
            looksNow = false;
        }
        boolean asked = due.renewal() || line || more;
        more = false;
        return new Load(asked, renew, now, looks);
    }

    private void send(Load load) {
        List<PermitName> names = new ArrayList<>(load.renew.size());
        load.renew.forEach(permit -> names.add(permit.name));
        long sent = System.nanoTime();
        client.store
                .beat(new BeatAsk(project, client.host, names, load.claims, load.looks))
                .whenComplete((answer, e) -> {
                    client.meters.script("beat", Duration.ofNanos(System.nanoTime() - sent));
                    try {
                        if (answer instanceof Beat.Alive alive) {
                            heard(load, alive);
                        } else if (answer instanceof Beat.Lost lost) {
                            lost(load, lost.what());
                        } else {
                            unheard(load, Blocking.cause(e));
                        }
                    } finally {
                        tempo.end();
                    }
                });
    }

    private void heard(Load load, Beat.Alive alive) {
        failed = 0;
        mended = 0;
        policies.heard(alive.stamp());
        for (int i = 0; i < load.renew.size(); i++) {
            if (!alive.renewed().get(i)) {
                held.lost(load.renew.get(i));
            }
        }
        for (int i = 0; i < load.claims.size(); i++) {
            stands(load.claims.get(i), alive.claims().get(i));
        }
        for (News one : alive.news()) {
            stands(one.id(), one.place());
        }
        for (int i = 0; i < load.looks.size(); i++) {
            stands(load.looks.get(i), alive.looks().get(i));
            // Where one was lost others may be: their turn comes sooner.
            looksNow |= alive.looks().get(i) instanceof Place.ToSubmit;
        }
        more = alive.more();
        if (more || looksNow || !renewals.isEmpty()) {
            tempo.soon();
        }
        if (waiters.standing() > 0) {
            tempo.lineWithin(alive.nextUs());
        }
        claimTheRest();
    }

    private void stands(String id, Place place) {
        if (place instanceof Place.Running running) {
            outcomes.claimed(id, running);
        } else if (place instanceof Place.ToClaim) {
            granted(List.of(id));
        } else if (place instanceof Place.ToSubmit) {
            waiters.toAsk(id).forEach(asking::ask);
        } else if (place instanceof Place.InLine line && line.queued() != null) {
            outcomes.told(id, line.queued());
        }
    }

    private void claimTheRest() {
        boolean any;
        synchronized (claims) {
            any = !claims.isEmpty();
        }
        if (any) {
            tempo.now();
        }
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
        keep(load);
        looksNow = true;
        asking.mended(known).whenComplete((view, e) -> tempo.lineWithin(e == null ? 0 : -1));
    }

    /** Two beats missed in a row would be a short lease lost; three, and calls that wait here count as unanswered. */
    private void unheard(Load load, Throwable e) {
        log.debug("{}: no beat: {}", project, e.getMessage());
        renewals.clear();
        tempo.renewWithin(LEASE_AFTER_SILENCE);
        String reason = e instanceof OutageException outage ? outage.reason() : "";
        if (reason.equals("wrongtype")) {
            lost(load, reason);
            return;
        }
        if (!reason.equals("disconnected")) {
            failed++;
        }
        if (failed >= TRIES || reason.equals("breaker")) {
            failed = 0;
            outcomes.outage(e);
            return;
        }
        keep(load);
        looksNow |= !load.looks.isEmpty();
        if (waiters.standing() > 0) {
            if (reason.equals("timeout")) {
                tempo.soon();
            } else {
                tempo.lineWithin(-1);
            }
        }
    }

    /** What it did not claim the next one claims. */
    private void keep(Load load) {
        synchronized (claims) {
            claims.addAll(load.claims);
        }
    }

    /** The last beat gives whoever still uses a permit a whole lease for it. */
    void close() {
        tempo.close();
        for (List<LivePermit> part : held.parts(RENEWALS)) {
            send(new Load(true, part, List.of(), List.of()));
        }
    }
}
