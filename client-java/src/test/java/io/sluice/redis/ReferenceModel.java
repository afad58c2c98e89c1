package io.sluice.redis;

import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the scripts must do, said as plainly as possible: big integers, maps by name, nothing packed, nothing fast.
 * {@code lua/lib/bucket.lua} and {@code lua/lib/scope.lua} explain the arithmetic.
 */
final class ReferenceModel {
    private static final long S = 1_000_000;
    private static final int GATE_SLOTS = 12;
    private static final BigInteger EXACT = BigInteger.ONE.shiftLeft(53).subtract(BigInteger.ONE);

    final Map<String, Scope> scopes = new TreeMap<>();
    final Map<String, Permit> permits = new HashMap<>();
    private long version;

    static final class Limit {
        RefillLimit is;
        boolean active = true;
        BigInteger level;

        /** When the bucket was last seen full. */
        long full;

        final TreeMap<Long, BigInteger> admitted = new TreeMap<>();

        Limit(RefillLimit is) {
            this.is = is;
            this.level = big(is.capacity());
        }

        long width() {
            boolean gated = big(is.capacity()).compareTo(big(is.ceiling()).multiply(big(is.factor()))) < 0;
            return gated ? (is.spanUs() + GATE_SLOTS - 1) / GATE_SLOTS : 0;
        }

        BigInteger admittedIn(long now) {
            if (width() == 0) {
                return BigInteger.ZERO;
            }
            return admitted.tailMap(now / width() - GATE_SLOTS).values().stream()
                    .reduce(BigInteger.ZERO, BigInteger::add);
        }

        /** In whole units of cost, rounded up. */
        BigInteger notYetRefilled() {
            BigInteger factor = big(is.factor());
            return big(is.capacity())
                    .subtract(level)
                    .add(factor)
                    .subtract(BigInteger.ONE)
                    .divide(factor);
        }

        void admit(long grantedAt, BigInteger units) {
            if (width() > 0) {
                admitted.merge(grantedAt / width(), units, BigInteger::add);
            }
        }

        void add(BigInteger levelUnits) {
            BigInteger lowest = big(is.capacity()).subtract(EXACT);
            level = level.add(levelUnits).min(big(is.capacity())).max(lowest);
        }
    }

    static final class Scope {
        long slots;
        long used;
        long last;
        final Map<String, Limit> limits = new TreeMap<>();

        /** What a limit holds at {@code now}; nothing is changed by looking. */
        BigInteger levelAt(long now, Limit limit) {
            long ticks = Math.max(0, now / limit.is.tickUs() - last / limit.is.tickUs());
            BigInteger refill = big(ticks).multiply(big(limit.is.rate()));
            return limit.level.add(refill).min(big(limit.is.capacity()));
        }

        /** Before something is written. */
        void advance(long now) {
            for (Limit limit : limits.values()) {
                limit.level = levelAt(now, limit);
                boolean isFull = limit.level.equals(big(limit.is.capacity()));
                limit.full = isFull ? now : Math.min(limit.full, now);
            }
            last = now;
        }
    }

    /** A permit: running, expired, or how it ended. */
    static final class Permit {
        String state = "running";
        final String digest;
        final long version;
        final long granted;
        final long lease;
        final Map<String, Map<String, Long>> costs;
        long due;

        Permit(String digest, long version, long granted, long lease, Map<String, Map<String, Long>> costs) {
            this.digest = digest;
            this.version = version;
            this.granted = granted;
            this.lease = lease;
            this.costs = costs;
            this.due = granted + lease;
        }
    }

    private static BigInteger big(long value) {
        return BigInteger.valueOf(value);
    }

    /** Redis's clock a little behind: time stands still. */
    long time(long now) {
        return Math.max(now, scopes.get("p").last);
    }

    void install(long now, ScopeLimits... installed) {
        version++;
        for (ScopeLimits it : installed) {
            Scope scope = scopes.computeIfAbsent(it.scope(), name -> {
                Scope fresh = new Scope();
                fresh.last = now;
                return fresh;
            });
            scope.advance(now);
            scope.slots = it.slots();
            scope.limits.values().forEach(limit -> limit.active = false);
            for (RefillLimit to : it.refills()) {
                Limit limit = scope.limits.get(to.name());
                if (limit == null) {
                    scope.limits.put(to.name(), new Limit(to));
                } else {
                    carryOver(limit, to, now);
                }
            }
        }
    }

    private static void carryOver(Limit limit, RefillLimit to, long now) {
        long width = limit.width();
        BigInteger admitted = width > 0 ? limit.admittedIn(now) : limit.notYetRefilled();
        if (limit.is.factor() != to.factor()) {
            BigInteger factor = big(limit.is.factor());
            BigInteger[] parts = limit.level.divideAndRemainder(factor);
            boolean roundsUp = parts[1].signum() < 0;
            BigInteger units = roundsUp ? parts[0].subtract(BigInteger.ONE) : parts[0];
            limit.level = units.multiply(big(to.factor()));
        }
        limit.is = to;
        limit.active = true;
        limit.add(BigInteger.ZERO);
        if (limit.width() != width) {
            limit.admitted.clear();
            limit.admit(now, admitted);
        }
    }

    /** Whether a limit owes nothing and so may be forgotten; if so, no permit took it any more. */
    boolean forget(String scope, String name, long now) {
        Scope of = scopes.get(scope);
        Limit limit = of.limits.get(name);
        boolean full = of.levelAt(now, limit).equals(big(limit.is.capacity()))
                && limit.admittedIn(now).signum() == 0;
        if (full) {
            permits.values()
                    .forEach(permit ->
                            permit.costs.getOrDefault(scope, new TreeMap<>()).remove(name));
        }
        return full;
    }

    /** Everything that is due at {@code now}. */
    void expire(long now) {
        for (String id : List.copyOf(permits.keySet())) {
            Permit permit = permits.get(id);
            if (permit.due > now) {
                continue;
            }
            if (permit.state.equals("running")) {
                leave(permit, now);
                permit.state = "expired";
                permit.due = roundedUp(now + 3600 * S);
            } else {
                permits.remove(id);
            }
        }
    }

    private void leave(Permit permit, long now) {
        permit.costs.keySet().forEach(name -> {
            Scope scope = scopes.get(name);
            scope.advance(now);
            scope.used--;
        });
    }

    /** To the next step of 5 s, and within the millisecond after it in the order in which they came. */
    private static long roundedUp(long us) {
        return us / (5 * S) * (5 * S) + 5 * S + us % (5 * S) / 5_000;
    }

    /** The code of the reply, and for waits the exact part. */
    record Answer(String code, long exactUs) {}

    Answer acquire(long at, String id, String digest, long lease, Map<String, Map<String, Long>> costs) {
        long now = time(at);
        expire(now);
        Permit known = permits.get(id);
        if (known != null) {
            return new Answer(
                    !known.digest.equals(digest) ? "conflict" : known.state.equals("running") ? "granted" : "ended", 0);
        }
        long exact = 0;
        boolean full = false;
        List<String> order = new ArrayList<>(costs.keySet());
        order.sort((a, b) -> a.equals("p") ? -1 : b.equals("p") ? 1 : a.compareTo(b));
        for (String name : order) {
            Scope scope = scopes.get(name);
            if (scope.slots == 0) {
                return new Answer("closed", 0);
            }
            full |= scope.slots > 0 && scope.used >= scope.slots;
            for (Limit limit : scope.limits.values()) {
                if (!limit.active) {
                    continue;
                }
                if (limit.is.rate() == 0) {
                    return new Answer("closed", 0);
                }
                long cost = costs.get(name).getOrDefault(limit.is.name(), 0L);
                if (cost > limit.is.ceiling()) {
                    return new Answer("never", 0);
                }
                exact = Math.max(exact, wait(scope, limit, now, cost));
            }
        }
        if (full || exact > 0) {
            return new Answer("wait", exact);
        }
        for (String name : order) {
            Scope scope = scopes.get(name);
            scope.advance(now);
            scope.used++;
            for (Limit limit : scope.limits.values()) {
                BigInteger cost =
                        limit.active ? big(costs.get(name).getOrDefault(limit.is.name(), 0L)) : BigInteger.ZERO;
                limit.add(cost.multiply(big(limit.is.factor())).negate());
                limit.admit(now, cost);
            }
        }
        Map<String, Map<String, Long>> taken = new TreeMap<>();
        for (String name : order) {
            Map<String, Long> ofScope = new TreeMap<>();
            scopes.get(name).limits.forEach((limit, it) -> {
                if (it.active) {
                    ofScope.put(limit, costs.get(name).getOrDefault(limit, 0L));
                }
            });
            taken.put(name, ofScope);
        }
        permits.put(id, new Permit(digest, version, now, lease, taken));
        return new Answer("granted", 0);
    }

    /** By trying: the first tick at which it fits, nothing else happening. */
    private static long wait(Scope scope, Limit limit, long now, long cost) {
        BigInteger needed = big(cost).multiply(big(limit.is.factor()));
        boolean oversize = needed.compareTo(big(limit.is.capacity())) > 0;
        BigInteger goal = oversize ? big(limit.is.capacity()) : needed;
        long wait = 0;
        BigInteger missing = goal.subtract(scope.levelAt(now, limit));
        if (missing.signum() > 0) {
            BigInteger[] ticks = missing.divideAndRemainder(big(limit.is.rate()));
            long n = ticks[0].longValueExact() + (ticks[1].signum() > 0 ? 1 : 0);
            wait = (now / limit.is.tickUs() + n) * limit.is.tickUs() - now;
        }
        if (oversize) {
            long at = now;
            while (limit.admittedIn(at).add(big(cost)).compareTo(big(limit.is.spanAmount())) > 0) {
                at = (at / limit.width() + 1) * limit.width();
            }
            wait = Math.max(wait, at - now);
        }
        return wait;
    }

    /** State and whether it had ended before; {@code unknown} for a stranger. */
    record Ending(String state, boolean already) {}

    Ending settle(long at, String id, String how, Map<String, Map<String, Long>> used) {
        long now = time(at);
        expire(now);
        Permit permit = permits.get(id);
        if (permit == null) {
            return new Ending("unknown", false);
        }
        boolean late = permit.state.equals("expired") && !how.equals("cancelled");
        if (!late && !permit.state.equals("running")) {
            return new Ending(permit.state.equals("booked") ? "expired" : permit.state, true);
        }
        if (!late) {
            leave(permit, now);
        }
        permit.costs.forEach((name, costs) -> {
            Scope scope = scopes.get(name);
            scope.advance(now);
            for (Limit limit : scope.limits.values()) {
                correct(limit, permit, costs, how.equals("cancelled") ? Map.of() : used.get(name));
            }
        });
        permit.state = late ? "booked" : how;
        permit.due = roundedUp(now + 600 * S);
        return new Ending(permit.state, late);
    }

    private static void correct(Limit limit, Permit permit, Map<String, Long> costs, Map<String, Long> used) {
        if (used == null || !costs.containsKey(limit.is.name())) {
            return;
        }
        long estimate = costs.get(limit.is.name());
        long units = Math.min(used.getOrDefault(limit.is.name(), 0L), Math.max(4 * estimate, limit.is.minute()));
        BigInteger back = big(estimate - units);
        // What the bucket has made good by itself since is not given back on top.
        if (back.signum() < 0 || limit.full <= permit.granted) {
            limit.add(back.multiply(big(limit.is.factor())));
        }
        // A slot that is not there any more (its width has changed) cannot be corrected.
        if (limit.width() > 0 && limit.admitted.containsKey(permit.granted / limit.width())) {
            limit.admit(permit.granted, back.negate());
        }
    }

    /** Whether the lease was renewed. */
    boolean renew(long now, String id) {
        Permit permit = permits.get(id);
        if (permit == null || !permit.state.equals("running")) {
            return false;
        }
        permit.due = now + permit.lease;
        return true;
    }
}
