package io.sluice.testbed.emulator;

import io.sluice.testbed.emulator.Decision.Accepted;
import io.sluice.testbed.emulator.Decision.Rejected;
import io.sluice.testbed.emulator.Decision.Running;
import io.sluice.testbed.emulator.DecisionLog.Event;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.function.UnaryOperator;
import tools.jackson.databind.node.ObjectNode;

/**
 * Decides which calls run, as the provider would: every limit kept after it, or rejected. One lock over a decision, its
 * bookings and its log line, so the log tells exactly what happened, in order.
 *
 * <p>Requests, input and what is charged of {@code tpm} are booked when a call is accepted, output as it is produced.
 */
final class Enforcer {
    private final EmulatorOptions options;
    private final Dialect dialect;
    private final Rules rules;
    private final InstantSource time;
    private final DecisionLog log;
    private final long startUs;
    private Pools pools;
    private Account account;
    private Telling telling = new Telling();
    private Stats stats = new Stats();
    private long lastUs;

    Enforcer(EmulatorOptions options) {
        this(options, Dialect.of(options));
    }

    Enforcer(EmulatorOptions options, Dialect dialect) {
        this.options = options;
        this.dialect = dialect;
        this.rules = dialect.rules();
        rules.check(options.provider(), options.behaviour());
        this.time = options.time();
        this.startUs = now();
        this.pools = new Pools(options, rules);
        this.account = new Account(rules, options, startUs);
        newDay(options.behaviour(), startUs);
        this.log = new DecisionLog(options.logCapacity(), startUs);
    }

    /** @param id the number its answer and log lines carry */
    synchronized Decision decide(Call call, long id) {
        long now = now();
        Pool pool = pools.of(call.model());
        Denial denial = account.denial(now);
        if (denial == null) {
            denial = pool.denial(call, now);
        }
        if (denial == null) {
            denial = account.tooSteep(call, pool, now);
        }
        // Slots last: everything else can say how long to wait.
        if (denial == null) {
            denial = pool.fullHouse();
        }
        return denial == null ? accept(id, call, pool, now) : reject(id, call, pool, denial, now);
    }

    private Accepted accept(long id, Call call, Pool pool, long now) {
        pool.begin(call, now);
        account.accepted(call, pool, now);
        stats.accepted(pool, call, now);
        log.add(Event.ACCEPTED, now, id, call, pool, null, 0);
        return new Accepted(new Running(id, call, pool), standing(pool, now), account.streamError(call));
    }

    private Rejected reject(long id, Call call, Pool pool, Denial denial, long now) {
        if (counts(denial, pool, now)) {
            pool.book(Kind.REQUESTS, 1, now);
            stats.requestCounted(pool, now);
        }
        stats.rejected(denial.kind());
        log.reject(now, id, call, pool, denial.kind(), dialect.status(denial));
        long waitUs = Telling.waitUs(denial.waitUs(), account.behaviour().lies);
        return new Rejected(id, call, denial, waitUs, standing(pool, now));
    }

    /** By the provider's own rule only while a request is left: what it tells as used never passes the limit. */
    private boolean counts(Denial denial, Pool pool, long now) {
        Boolean asked = options.countRejected();
        if (denial instanceof Denial.Busy) {
            return false;
        }
        return asked == null ? rules.countsRejected() && pool.hasRequestLeft(now) : asked;
    }

    private Standing standing(Pool pool, long now) {
        return telling.of(pool, pool.standing(account.plan(now), now), account.behaviour().lies);
    }

    /** {@code tokens} more were produced. Nothing is booked once the call has ended. */
    synchronized void produced(Running running, long tokens) {
        if (!running.ended && tokens > 0) {
            long now = now();
            running.produced += tokens;
            running.pool.book(Kind.OUTPUT, tokens, now);
            if (rules.outputAsTokens()) {
                running.pool.book(Kind.TOKENS, tokens, now);
                running.pool.book(Kind.DAILY_TOKENS, tokens, now);
            }
            account.produced(running.call, tokens, now);
            stats.produced(running.pool, tokens, rules.outputAsTokens(), now);
        }
    }

    /** The whole answer was produced. */
    void finish(Running running) {
        end(running, Event.FINISHED);
    }

    /** Its stream failed under way: what was produced so far stays booked. */
    void fail(Running running) {
        end(running, Event.FAILED);
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

    /**
     * Changes what the provider does beside its limits, from the next call on.
     *
     * @throws IllegalArgumentException if this provider never does such a thing
     */
    synchronized void behave(UnaryOperator<Behaviour> change) {
        Behaviour next = change.apply(account.behaviour());
        rules.check(options.provider(), next);
        long now = now();
        account.behave(next, now);
        if (next.set.contains("new-day-in")) {
            newDay(next, now);
        }
    }

    /** Clears counters, stats and log and behaves as at the start, if nothing is in flight; says whether it did. */
    synchronized boolean reset() {
        if (stats.inFlight() > 0) {
            return false;
        }
        long now = now();
        pools = new Pools(options, rules);
        account = new Account(rules, options, now);
        newDay(options.behaviour(), now);
        telling = new Telling();
        stats = new Stats();
        log.clear();
        return true;
    }

    private void newDay(Behaviour behaviour, long now) {
        if (behaviour.newDayIn != null) {
            pools.newDayAt(now + behaviour.newDayIn.toNanos() / 1_000);
        }
    }

    synchronized ObjectNode stats() {
        return stats.toJson(options, account, instant(startUs), (now() - startUs) / 1_000, log.dropped());
    }

    synchronized Behaviour behaviour() {
        return account.behaviour();
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
