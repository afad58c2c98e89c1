package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the scripts must do with limits, levels and permits, said as plainly as possible: big integers, maps by name,
 * nothing packed, nothing fast. {@code lua/lib/bucket.lua} and {@code lua/lib/scope.lua} explain the arithmetic;
 * {@link ReferenceLine} is the line in front of it.
 */
final class ReferenceModel {
    private static final long S = 1_000_000;
    private static final int GATE_SLOTS = 12;
    private static final int ROLLING_SLOTS = 60;
    private static final BigInteger EXACT = BigInteger.ONE.shiftLeft(53).subtract(BigInteger.ONE);

    final Map<String, Scope> scopes = new TreeMap<>();
    final Map<String, Permit> permits = new HashMap<>();
    /** As scopes nobody uses: what is made on demand looks like them. Full, and a removed limit keeps its place. */
    final Map<String, Scope> templates = new TreeMap<>();

    long version;

    /** What the windows of the calendar go by; limits name them by place, from 1. */
    private List<String> calendars = List.of();

    /** Everything is admitted, and no charge drives a level below one minute of debt. */
    boolean shadow;

    static final class Limit {
        RefillLimit is;
        boolean active = true;
        BigInteger level;

        /** When the bucket was last seen full. */
        long full;

        final TreeMap<Long, BigInteger> admitted = new TreeMap<>();

        /** Of the calendar's windows: which calendar, and when the present one ends. */
        String calendar;

        long ends;

        Limit(RefillLimit is, String calendar, long now) {
            this.is = is;
            this.level = big(is.capacity());
            this.calendar = calendar;
            this.ends = isCalendar() ? Boundaries.next(calendar, now) : 0;
        }

        boolean isCalendar() {
            return is.calendar() > 0;
        }

        /** What was admitted in any period, up to now. */
        boolean isRolling() {
            return is.rate() == 0 && is.calendar() == 0 && width() > 0;
        }

        boolean isWindow() {
            return isCalendar() || isRolling();
        }

        long width() {
            return is.widthUs();
        }

        BigInteger admittedIn(long now) {
            if (width() == 0) {
                return BigInteger.ZERO;
            }
            return admitted.tailMap(now / width() - (isRolling() ? ROLLING_SLOTS : GATE_SLOTS)).values().stream()
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

        /** Takes units of cost, in shadow mode down to one minute of debt and no further. */
        void take(BigInteger units, boolean downToAMinute) {
            if (isRolling()) {
                return; // what is left is what the slots leave
            }
            BigInteger before = level;
            add(units.multiply(big(is.factor())).negate());
            if (downToAMinute) {
                BigInteger lowest = big(is.minute()).multiply(big(is.factor())).negate();
                level = level.max(before.min(lowest));
            }
        }

        void add(BigInteger levelUnits) {
            BigInteger lowest = big(is.capacity()).subtract(EXACT);
            level = level.add(levelUnits).min(big(is.capacity())).max(lowest);
        }
    }

    static final class Scope {
        long slots = ScopeLimits.UNLIMITED;
        long used;
        long last;
        final Map<String, Limit> limits = new TreeMap<>();

        /** Where distinct agents are counted: until when each counts. */
        final Map<String, Long> agents = new TreeMap<>();

        boolean isFull() {
            return slots >= 0 && used >= slots;
        }

        /** Nothing would be lost if this scope were made anew. */
        boolean isIdle(long now) {
            return used == 0
                    && limits.values().stream()
                            .allMatch(limit -> levelAt(now, limit).equals(big(limit.is.capacity()))
                                    && limit.admittedIn(now).signum() == 0);
        }

        /** What a limit holds at {@code now}; nothing is changed by looking. */
        BigInteger levelAt(long now, Limit limit) {
            if (limit.isRolling()) {
                return big(limit.is.capacity()).subtract(limit.admittedIn(now));
            }
            if (limit.isCalendar() && now >= limit.ends) {
                return big(limit.is.capacity());
            }
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
                if (limit.isCalendar() && (now >= limit.ends || now < last)) {
                    limit.ends = Boundaries.next(limit.calendar, now);
                }
            }
            last = now;
        }

        /** When the first window of a limit that counts ends. */
        long windowEnds() {
            return limits.values().stream()
                    .filter(limit -> limit.active && limit.isCalendar())
                    .mapToLong(limit -> limit.ends)
                    .min()
                    .orElse(Long.MAX_VALUE);
        }
    }

    /** A permit: granted (unclaimed), running, expired, or how it ended. */
    static final class Permit {
        String state = "running";
        final String digest;

        /** Who asked, where the line must know. */
        ReferenceLine.@Nullable Waiter asked;

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

        /** Its host knows of it: now it runs. */
        void claim(long now) {
            if (state.equals("granted")) {
                state = "running";
                due = now + lease;
            }
        }
    }

    private static BigInteger big(long value) {
        return BigInteger.valueOf(value);
    }

    /** Redis's clock a little behind: time stands still. */
    long time(long now) {
        return Math.max(now, scopes.get("p").last);
    }

    private static boolean isTemplate(String scope) {
        return scope.length() == 2;
    }

    static boolean isMadeOnDemand(String scope) {
        return "aer".indexOf(scope.charAt(0)) >= 0;
    }

    /** As it is, or as it would be made: nothing is changed by looking. */
    Scope look(String name, long now) {
        Scope scope = scopes.get(name);
        if (scope != null) {
            return scope;
        }
        Scope template = templates.getOrDefault(name.substring(0, 2), new Scope());
        Scope fresh = new Scope();
        fresh.last = now;
        fresh.slots = template.slots;
        template.limits.forEach((limit, it) -> {
            Limit full = new Limit(it.is, it.calendar, now);
            full.active = it.active;
            full.full = now;
            fresh.limits.put(limit, full);
        });
        return fresh;
    }

    /** Made if it was not there. */
    Scope scope(String name, long now) {
        return scopes.computeIfAbsent(name, it -> look(it, now));
    }

    void install(long now, List<String> goesBy, ScopeLimits... installed) {
        version++;
        calendars = goesBy;
        Map<String, ScopeLimits> wanted = new TreeMap<>();
        for (ScopeLimits it : installed) {
            wanted.put(it.scope(), it);
            Map<String, Scope> where = isTemplate(it.scope()) ? templates : scopes;
            where.computeIfAbsent(it.scope(), name -> {
                Scope fresh = new Scope();
                fresh.last = now;
                return fresh;
            });
        }
        templates.forEach((name, template) -> change(template, wanted, name, now));
        scopes.forEach((name, scope) -> change(scope, wanted, isMadeOnDemand(name) ? name.substring(0, 2) : name, now));
    }

    private void change(Scope scope, Map<String, ScopeLimits> wanted, String name, long now) {
        ScopeLimits none = new ScopeLimits(name, ScopeLimits.UNLIMITED, List.of());
        change(scope, wanted.getOrDefault(name, none), now);
    }

    /** Each limit, as {@code scope limit}, and whether another may take its place: it was removed and owes nothing. */
    Map<String, Boolean> forgettable(long now) {
        Map<String, Boolean> found = new HashMap<>();
        scopes.forEach((name, scope) -> scope.limits.forEach((limit, it) -> {
            boolean isFull = scope.levelAt(now, it).equals(big(it.is.capacity()));
            found.put(
                    name + " " + limit,
                    !it.active && isFull && it.admittedIn(now).signum() == 0);
        }));
        return found;
    }

    /** Limits that came back at another place than they had: only of those that could be forgotten. */
    void startAnew(List<String[]> moved, Map<String, Boolean> forgettable, long now, String what) {
        for (String[] it : moved) {
            Boolean mayBeNew = forgettable.get(it[0] + " " + it[1]);
            if (mayBeNew != null) {
                assertThat(mayBeNew)
                        .as(what + ": " + it[1] + " of " + it[0] + " could be forgotten")
                        .isTrue();
                startsAnew(it[0], it[1], now);
            }
        }
    }

    /**
     * A limit that was removed, owed nothing, and came back at another place: it is a new one, which no permit of today
     * took.
     */
    private void startsAnew(String scope, String limit, long now) {
        Limit it = Objects.requireNonNull(scopes.get(scope)).limits.get(limit);
        Limit fresh = new Limit(it.is, it.calendar, now);
        Objects.requireNonNull(scopes.get(scope)).limits.put(limit, fresh);
        permits.values()
                .forEach(permit ->
                        permit.costs.getOrDefault(scope, new TreeMap<>()).remove(limit));
    }

    private void change(Scope scope, ScopeLimits to, long now) {
        scope.advance(now);
        scope.slots = to.slots();
        scope.limits.values().forEach(limit -> limit.active = false);
        for (RefillLimit refill : to.refills()) {
            String calendar = refill.calendar() > 0 ? calendars.get(refill.calendar() - 1) : "";
            Limit limit = scope.limits.get(refill.name());
            if (limit == null) {
                scope.limits.put(refill.name(), new Limit(refill, calendar, now));
                continue;
            }
            limit.level = scope.levelAt(now, limit);
            boolean wasWindow = limit.isWindow();
            BigInteger used = big(limit.is.capacity()).subtract(limit.level);
            carryOver(limit, refill, now, used);
            if (limit.isWindow()) {
                becomesWindow(limit, calendar, now, wasWindow ? used : null);
            }
        }
    }

    /** What was used of a window is used of the next one too, whatever its amount. Of anything else no more is left than was. */
    private static void becomesWindow(Limit limit, String calendar, long now, @Nullable BigInteger used) {
        BigInteger capacity = big(limit.is.capacity());
        BigInteger level = used == null ? limit.level : capacity.subtract(used);
        if (limit.isCalendar()) {
            limit.level = level;
            limit.calendar = calendar;
            limit.ends = Boundaries.next(calendar, now);
            limit.admitted.clear();
        } else if (!limit.admittedIn(now).equals(capacity.subtract(level))) {
            limit.admitted.clear();
            limit.admit(now, capacity.subtract(level));
        }
    }

    private static void carryOver(Limit limit, RefillLimit to, long now, BigInteger used) {
        long width = limit.width();
        boolean wasWindow = limit.isWindow();
        BigInteger admitted = width > 0 ? limit.admittedIn(now) : wasWindow ? used : limit.notYetRefilled();
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
        if (limit.width() != width || wasWindow != limit.isWindow()) {
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
        windowsEnd(now);
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

    /** Its slots are free again. Its agent counts for another 5 minutes. */
    void leave(Permit permit, long now) {
        permit.costs.keySet().forEach(name -> {
            Scope scope = scope(name, now);
            scope.advance(now);
            scope.used -= name.startsWith("n:") ? 0 : 1;
        });
        stillActive(permit, now);
    }

    /** Where its agent still counts it does so for another 5 minutes. */
    void stillActive(Permit permit, long now) {
        countedIn(permit, now)
                .forEach(scope -> scope.agents.computeIfPresent(
                        Objects.requireNonNull(permit.asked).agent, (agent, until) -> now + 300 * S));
    }

    private List<Scope> countedIn(Permit permit, long now) {
        return permit.costs.keySet().stream()
                .filter(name -> name.startsWith("n:"))
                .map(name -> scope(name, now))
                .toList();
    }

    /** The agent of a permit counts for 5 minutes. The scopes where it did not before. */
    List<String> active(Permit permit, long now) {
        List<String> newly = new ArrayList<>();
        permit.costs.keySet().stream().filter(name -> name.startsWith("n:")).forEach(name -> {
            Scope scope = scope(name, now);
            if (scope.agents.put(Objects.requireNonNull(permit.asked).agent, now + 300 * S) == null) {
                newly.add(name);
            }
            scope.used = scope.agents.size();
        });
        return newly;
    }

    /** To the next step of 5 s, and within the millisecond after it in the order in which they came. */
    static long roundedUp(long us) {
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
        Shortage keptOut = shortage(now, costs, "");
        if (keptOut.code().equals("wait") || keptOut.isForEver()) {
            return new Answer(keptOut.code(), keptOut.exactUs());
        }
        permits.put(id, take(now, digest, lease, costs));
        return new Answer("granted", 0);
    }

    /**
     * What keeps a call out.
     *
     * @param code nothing, {@code wait}, {@code closed} or {@code never}
     * @param slots whether slots are short
     * @param exactUs the longest exact wait; 0 if only slots are short
     * @param decides which limits, as {@code scope limit}, take as long as that or are for ever
     */
    record Shortage(String code, boolean slots, long exactUs, Set<String> decides) {
        boolean isForEver() {
            return code.equals("closed") || code.equals("never");
        }

        boolean fits() {
            return code.isEmpty();
        }
    }

    /** Nothing else considered than what the scopes hold. */
    Shortage shortage(long now, Map<String, Map<String, Long>> costs, String agent) {
        Set<String> forEver = new HashSet<>();
        Set<String> decides = new HashSet<>();
        String code = "";
        long exact = 0;
        boolean full = false;
        List<String> order = new ArrayList<>(costs.keySet());
        order.sort(Scripted::byPlace);
        for (String name : order) {
            Scope scope = look(name, now);
            if (scope.slots == 0) {
                code = code.isEmpty() ? "closed" : code;
                forEver.add(name + " concurrency");
            }
            full |= scope.isFull() && !scope.agents.containsKey(agent);
            for (Limit limit : scope.limits.values()) {
                if (!limit.active) {
                    continue;
                }
                long cost = costs.get(name).getOrDefault(limit.is.name(), 0L);
                boolean isClosed = limit.is.capacity() == 0;
                if (isClosed || cost > limit.is.ceiling()) {
                    code = !code.isEmpty() ? code : isClosed ? "closed" : "never";
                    forEver.add(name + " " + limit.is.name());
                    continue;
                }
                long wait = wait(scope, limit, now, cost);
                if (wait > exact) {
                    decides.clear();
                }
                exact = Math.max(exact, wait);
                if (wait > 0 && wait == exact) {
                    decides.add(name + " " + limit.is.name());
                }
            }
        }
        if (!code.isEmpty()) {
            return new Shortage(code, full, exact, forEver);
        }
        return new Shortage(full || exact > 0 ? "wait" : "", full, exact, decides);
    }

    /** Takes everything, whether it fits or not. */
    Permit take(long now, String digest, long lease, Map<String, Map<String, Long>> costs) {
        Map<String, Map<String, Long>> taken = new TreeMap<>();
        costs.forEach((name, ofScope) -> {
            Scope scope = scope(name, now);
            scope.advance(now);
            scope.used += name.startsWith("n:") ? 0 : 1;
            Map<String, Long> units = new TreeMap<>();
            for (Limit limit : scope.limits.values()) {
                if (limit.active) {
                    long cost = ofScope.getOrDefault(limit.is.name(), 0L);
                    limit.take(big(cost), shadow);
                    limit.admit(now, big(cost));
                    units.put(limit.is.name(), cost);
                }
            }
            taken.put(name, units);
        });
        return new Permit(digest, version, now, lease, taken);
    }

    /** By trying: the first tick at which it fits, nothing else happening. */
    static long wait(Scope scope, Limit limit, long now, long cost) {
        if (limit.isWindow()) {
            long at = now;
            while (scope.levelAt(at, limit).compareTo(big(cost)) < 0) {
                at = limit.isCalendar() ? limit.ends : (at / limit.width() + 1) * limit.width();
            }
            return at - now;
        }
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
        correct(permit, now, how.equals("cancelled"), used);
        permit.state = late ? "booked" : how;
        permit.due = roundedUp(now + 600 * S);
        return new Ending(permit.state, late);
    }

    /** Replaces what a permit took by nothing, or by what it used. */
    void correct(Permit permit, long now, boolean nothing, Map<String, Map<String, Long>> used) {
        permit.costs.forEach((name, costs) -> {
            Scope scope = scope(name, now);
            scope.advance(now);
            for (Limit limit : scope.limits.values()) {
                correct(limit, permit, costs, nothing ? Map.of() : used.get(name), now, shadow);
            }
        });
    }

    /** What is booked for so much used: nobody reports a budget away. */
    static long bounded(Limit limit, long estimate, long used) {
        return Math.min(used, Math.max(4 * estimate, limit.is.minute()));
    }

    private static void correct(
            Limit limit,
            Permit permit,
            Map<String, Long> costs,
            @Nullable Map<String, Long> used,
            long now,
            boolean downToAMinute) {
        if (used == null || !costs.containsKey(limit.is.name())) {
            return;
        }
        long estimate = costs.get(limit.is.name());
        BigInteger back = big(estimate - bounded(limit, estimate, used.getOrDefault(limit.is.name(), 0L)));
        if (limit.isRolling()) {
            correctRolling(limit, permit.granted, back, now);
            return;
        }
        if (back.signum() < 0) {
            limit.take(back.negate(), downToAMinute);
        } else if (limit.full <= permit.granted) {
            // What the bucket has made good by itself since is not given back on top.
            limit.add(back.multiply(big(limit.is.factor())));
        }
        // A slot that is not there any more (its width has changed) cannot be corrected.
        if (limit.width() > 0 && limit.admitted.containsKey(permit.granted / limit.width())) {
            limit.admit(permit.granted, back.negate());
        }
    }

    /** Where it was admitted, as long as that counts: never more back than is there. After that it is made good, or taken now. */
    private static void correctRolling(Limit limit, long granted, BigInteger back, long now) {
        long slot = granted / limit.width();
        boolean counts = slot >= now / limit.width() - ROLLING_SLOTS && limit.admitted.containsKey(slot);
        if (counts) {
            limit.admit(granted, back.min(limit.admitted.get(slot)).negate());
        } else if (back.signum() < 0) {
            limit.admit(now, back.negate());
        }
    }

    /** The window of a calendar limit is over: that is noted at once, with the project's time. */
    void windowsEnd(long now) {
        for (Scope scope : scopes.values()) {
            if (scope.windowEnds() <= now) {
                scope.advance(now);
                scopes.get("p").advance(now);
            }
        }
    }

    /** 1: the lease was renewed; 0: it runs no more; 2: nobody knows it. */
    long renew(long now, String id) {
        Permit permit = permits.get(id);
        if (permit == null) {
            return 2;
        }
        if (!permit.state.equals("running")) {
            return 0;
        }
        permit.due = now + permit.lease;
        return 1;
    }
}
