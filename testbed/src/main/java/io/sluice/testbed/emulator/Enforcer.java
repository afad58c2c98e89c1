package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Decision.Accepted;
import io.sluice.testbed.emulator.Decision.Rejected;
import io.sluice.testbed.emulator.Decision.Running;
import io.sluice.testbed.emulator.DecisionLog.Event;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import tools.jackson.databind.node.ObjectNode;

/**
 * Decides which calls run, as the provider would: every limit kept after it, or rejected. One lock over a decision, its
 * bookings and its log line, so the log tells exactly what happened, in order.
 *
 * <p>Requests and counted input are booked when a call is accepted, output as it is produced.
 */
final class Enforcer {
    private final EmulatorOptions options;
    private final InstantSource time;
    private final DecisionLog log;
    private final long startUs;
    private Pools pools;
    private Stats stats = new Stats();
    private long lastUs;

    Enforcer(EmulatorOptions options) {
        this.options = options;
        this.time = options.time();
        this.pools = new Pools(options);
        this.startUs = now();
        this.log = new DecisionLog(options.logCapacity(), startUs);
    }

    /** @param id the number its answer and log lines carry */
    synchronized Decision decide(Call call, long id) {
        long now = now();
        Pool pool = pools.of(call.model());
        Kind shortOf = null;
        long wait = 0;
        for (Kind kind : Kind.RATES) {
            long kindWait = pool.waitFor(kind, call, now);
            if (kindWait > 0 && shortOf == null) {
                shortOf = kind;
            }
            // The longest of them: before that the same request would be rejected again.
            wait = Math.max(wait, kindWait);
        }
        // Rates before slots: a rate says how long to wait.
        if (shortOf == null && !pool.hasFreeSlot()) {
            shortOf = Kind.CONCURRENCY;
        }
        return shortOf == null ? accept(id, call, pool, now) : reject(id, call, pool, shortOf, wait, now);
    }

    private Accepted accept(long id, Call call, Pool pool, long now) {
        pool.book(Kind.REQUESTS, 1, now);
        pool.book(Kind.INPUT, call.counted(), now);
        pool.inFlight++;
        stats.accepted(pool, call, now);
        log.add(Event.ACCEPTED, now, id, call, pool, null, 0);
        return new Accepted(new Running(id, call, pool), pool.standing(now));
    }

    private Rejected reject(long id, Call call, Pool pool, Kind kind, long wait, long now) {
        if (options.countRejected()) {
            pool.book(Kind.REQUESTS, 1, now);
            stats.requestCounted(pool, now);
        }
        stats.rejected(kind);
        log.add(Event.REJECTED, now, id, call, pool, kind, 0);
        return new Rejected(id, call, kind, pool.limit(kind), wait, pool.standing(now));
    }

    /** {@code tokens} more were produced. Nothing is booked once the call has ended. */
    synchronized void produced(Running running, long tokens) {
        if (!running.ended && tokens > 0) {
            long now = now();
            running.produced += tokens;
            running.pool.book(Kind.OUTPUT, tokens, now);
            stats.produced(running.pool, tokens, now);
        }
    }

    /** The whole answer was produced. */
    void finish(Running running) {
        end(running, Event.FINISHED);
    }

    /** The client left before its answer was whole: what was produced so far stays booked. */
    void abort(Running running) {
        end(running, Event.ABORTED);
    }

    private synchronized void end(Running running, Event how) {
        if (!running.ended) {
            running.ended = true;
            running.pool.inFlight--;
            stats.ended(how);
            log.add(how, now(), running.id, running.call, running.pool, null, running.produced);
        }
    }

    /** Clears counters, stats and log, if nothing is in flight; says whether it did. */
    synchronized boolean reset() {
        if (stats.inFlight() > 0) {
            return false;
        }
        pools = new Pools(options);
        stats = new Stats();
        log.clear();
        return true;
    }

    synchronized ObjectNode stats() {
        return stats.toJson(options, instant(startUs), (now() - startUs) / 1_000, log.dropped());
    }

    DecisionLog log() {
        return log;
    }

    static Instant instant(long us) {
        return Instant.EPOCH.plus(us, ChronoUnit.MICROS);
    }

    private long now() {
        lastUs = Math.max(lastUs, ChronoUnit.MICROS.between(Instant.EPOCH, time.instant()));
        return lastUs;
    }
}
