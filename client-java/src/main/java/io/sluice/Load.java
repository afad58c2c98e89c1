package io.sluice;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What one beat carries: permits to renew, grants to claim, calls in line to look after, permits that Redis does not know.
 *
 * @param renewals permits of the desk to renew
 * @param asked whether it is worth a beat even if it carries nothing
 */
record Load(
        boolean asked,
        List<LivePermit> renew,
        List<Renewing> renewals,
        List<String> claims,
        List<String> looks,
        List<LivePermit> asserts) {

    boolean isEmpty() {
        return !asked && renew.isEmpty() && renewals.isEmpty() && claims.isEmpty() && asserts.isEmpty();
    }

    List<Store.PermitName> names() {
        List<Store.PermitName> names = new ArrayList<>(renew.size() + renewals.size());
        renew.forEach(permit -> names.add(permit.name));
        renewals.forEach(one -> names.add(one.name));
        return names;
    }

    List<Store.Assertion> assertions() {
        return asserts.stream().map(LivePermit::assertion).toList();
    }

    /** Packs the loads of one project, one after the other. {@link #claim}, {@link #isUnknown} and {@link #greet} may be called from anywhere. */
    static final class Packer {
        static final int RENEWALS = 500;
        private static final int CLAIMS = 64;
        private static final int ASSERTS = 64;
        private static final int LOOKS = 32;

        /** A beat that comes earlier than this after the last looks takes none along: they are most of its work in Redis. */
        private static final long LOOKS_NS = TimeUnit.MILLISECONDS.toNanos(200);

        private static final Duration LEASE_WHILE_IDLE = Duration.ofSeconds(30);

        private final Tempo tempo;
        private final Held held;
        private final Waiters waiters;
        private final LongSupplier nanoTime;

        /** Permits to renew that did not fit into one beat. */
        private final Deque<List<LivePermit>> renewals = new ArrayDeque<>();

        /** Granted in the line, and not claimed yet. */
        private final Set<String> claims = new LinkedHashSet<>();

        /** Redis does not know them. */
        private final Deque<LivePermit> unknown = new ConcurrentLinkedDeque<>();

        /** Permits of the desk whose callers want to keep them. */
        private final Deque<Renewing> wanted = new ConcurrentLinkedDeque<>();

        /** A beat is wanted though there is nothing to carry. */
        private volatile boolean greets;

        /** No beat will carry anything any more. */
        private volatile boolean closed;

        private long looksAt;
        private boolean more;

        Packer(Tempo tempo, Held held, Waiters waiters, LongSupplier nanoTime) {
            this.tempo = tempo;
            this.held = held;
            this.waiters = waiters;
            this.nanoTime = nanoTime;
            this.looksAt = nanoTime.getAsLong();
        }

        Load next(Tempo.Due due) {
            if (due.renewal()) {
                renewals.clear();
                renewals.addAll(held.parts(RENEWALS));
                tempo.renewWithin(held.shortestLease(LEASE_WHILE_IDLE));
            }
            List<LivePermit> renew = renewals.isEmpty() ? List.of() : renewals.removeFirst();
            List<String> granted = claims();
            boolean line = waiters.standing() > 0;
            List<String> looks = List.of();
            long now = nanoTime.getAsLong();
            if (line && now - looksAt >= 0) {
                looks = waiters.turn(LOOKS, granted);
                looksAt = now + LOOKS_NS;
            }
            boolean asked = due.renewal() || line || more || greets || !unknown.isEmpty();
            more = false;
            greets = false;
            return new Load(asked, renew, wanted(RENEWALS - renew.size()), granted, looks, asserts(now));
        }

        /** What Redis does not know yet, and no more. */
        Load untold() {
            return new Load(true, List.of(), List.of(), List.of(), List.of(), asserts(nanoTime.getAsLong()));
        }

        private List<LivePermit> asserts(long nowNs) {
            List<LivePermit> some = new ArrayList<>();
            while (some.size() < ASSERTS) {
                LivePermit permit = unknown.pollFirst();
                if (permit == null) {
                    return some;
                }
                if (!permit.isLeased(nowNs)) {
                    held.lost(permit);
                    permit.asserted.complete(false);
                } else if (permit.isTold()) {
                    some.add(permit);
                } else {
                    permit.asserted.complete(false);
                }
            }
            return some;
        }

        private List<Renewing> wanted(int most) {
            List<Renewing> some = new ArrayList<>();
            for (Renewing one = null; some.size() < most && (one = wanted.pollFirst()) != null; ) {
                some.add(one);
            }
            return some;
        }

        /** The next beat renews it. May be called from anywhere. */
        void renew(Renewing one) {
            wanted.add(one);
            endIfClosed();
        }

        /** No beat will carry what there is, nor what comes. */
        void close() {
            closed = true;
            endIfClosed();
        }

        /** Asked after something is added: it is seen here, or by who closes. */
        private void endIfClosed() {
            if (closed) {
                OutageException why = new OutageException(WaitEnds.CLOSING, "this process stops; ask elsewhere", null);
                wanted(Integer.MAX_VALUE).forEach(one -> one.result.completeExceptionally(why));
                for (LivePermit one = unknown.pollFirst(); one != null; one = unknown.pollFirst()) {
                    one.asserted.completeExceptionally(why);
                }
            }
        }

        /** The next beat is sent though there is nothing to carry. */
        void greet() {
            greets = true;
        }

        /** Redis does not know this permit: the next beat tells of it. May be called from anywhere. */
        void isUnknown(LivePermit permit) {
            unknown.add(permit);
            endIfClosed();
        }

        private List<String> claims() {
            synchronized (claims) {
                List<String> some = claims.stream().limit(CLAIMS).toList();
                some.forEach(claims::remove);
                return some;
            }
        }

        /** These were granted. Returns whether that is news. */
        boolean claim(List<String> ids) {
            synchronized (claims) {
                return claims.addAll(ids);
            }
        }

        /** The next beat looks after calls in line again. */
        void looksNow() {
            looksAt = nanoTime.getAsLong();
        }

        /** Redis has work left. */
        void more() {
            more = true;
        }

        /** Whether somebody waits for the next beat. */
        boolean isUrgent() {
            synchronized (claims) {
                return !claims.isEmpty() || !wanted.isEmpty();
            }
        }

        /** Whether the next beat has something to carry that need not wait. */
        boolean isHeavy() {
            return more
                    || !renewals.isEmpty()
                    || !unknown.isEmpty()
                    || (waiters.standing() > 0 && nanoTime.getAsLong() - looksAt >= 0);
        }

        /** It did not arrive: what it asserted must be asserted still. */
        void keepAsserts(Load load) {
            unknown.addAll(load.asserts);
            endIfClosed();
        }

        /** It did not arrive: what it claimed is claimed again, and what it renewed comes with the next renewal. */
        void takeBack(Load load) {
            renewals.clear();
            keepAsserts(load);
            claim(load.claims);
            if (!load.looks.isEmpty()) {
                looksNow();
            }
        }
    }
}
