package io.sluice.redis;

import static io.sluice.redis.Scripted.S;

import io.sluice.ScopeLimits;
import io.sluice.redis.ReferenceModel.Permit;
import io.sluice.redis.ReferenceModel.Shortage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What the scripts must do with calls that cannot start yet, said as plainly as possible. Order and tags: {@link
 * ReferenceOrder}; who starts in one run: {@link ReferenceServe}; limits and permits: {@link ReferenceModel}. The time of
 * a step is given: what the scripts take for the time, Redis's clock a little back included.
 */
final class ReferenceLine {
    private static final int EXPIRED_AT_MOST = 32;
    private static final int DROPPED_AT_MOST = 20;
    private static final long CLAIM_WITHIN = S / 2;
    static final long SILENT_AFTER = 600_000;
    private static final long NEXT_PARKED_AFTER = 100_000;

    final ReferenceModel budget = new ReferenceModel();
    final ReferenceOrder order = new ReferenceOrder(budget);
    final Map<String, Host> hosts = new TreeMap<>();

    /** Refused at their deadline, place kept. */
    final Map<String, Waiter> places = new TreeMap<>();

    /** When the first line parked on a scope may start, where that is known. */
    final Map<String, Long> parkedUntil = new TreeMap<>();

    final Map<Line, Standing> lines = new HashMap<>();
    long maxWaiters;
    private Map<String, Long> most = Map.of();
    private long arrivals;

    /** What a run that had done enough found closed. */
    Set<String> closedClasses = Set.of();

    Set<String> closedGroups = Set.of();

    Set<String> closedLimits = Set.of();
    private long servedVersion;

    static final class Host {
        long lastBeat;

        /** When to see whether it is silent for good: as long as it has waiters. */
        long lookAt = Long.MAX_VALUE;

        boolean isSilent(long now) {
            return now - lastBeat > SILENT_AFTER;
        }

        void becomesSilent(long now) {
            lastBeat = Math.min(lastBeat, now - SILENT_AFTER - 1);
        }
    }

    /** A line is first come first served: nothing tells its calls apart but their size and their arrival. */
    record Line(
            String host, String modelClass, String flow, String workspace, Set<String> privateScopes, String agent) {}

    /** Why a line is not to be tried. */
    static final class Standing {
        @Nullable
        String parkedOn;

        boolean aside;

        boolean isReady() {
            return parkedOn == null && !aside;
        }
    }

    /** A call in line, told to submit again, or with its place kept. */
    static final class Waiter {
        final Scripted.Ask ask;
        final String agent;
        final long arrival;
        final long version;
        long deadline;

        /** Its policy moved on: its host is to submit it again. */
        boolean again;

        /** It leaves at the end of the run. */
        boolean onlyTries;

        Waiter(Scripted.Ask ask, long arrival, long version, long deadline) {
            this.ask = ask;
            this.agent = ask.agent();
            this.arrival = arrival;
            this.version = version;
            this.deadline = deadline;
        }

        private String first(String kind) {
            return ask.costs().keySet().stream()
                    .filter(name -> name.startsWith(kind))
                    .min(Comparator.naturalOrder())
                    .orElse("");
        }

        String modelClass() {
            return first("c:").replace("c:", "");
        }

        String workspace() {
            return first("w:").replace("w:", "").replaceAll("\\|.*", "");
        }

        List<String> scopes(String kinds) {
            return ask.costs().keySet().stream()
                    .filter(name -> kinds.indexOf(name.charAt(0)) >= 0)
                    .sorted(Scripted::byPlace)
                    .toList();
        }

        List<String> sharedScopes() {
            return scopes("pcwt");
        }

        List<String> privateScopes() {
            return scopes("aern");
        }

        Line line() {
            boolean countsAgents = privateScopes().stream().anyMatch(name -> name.startsWith("n:"));
            return new Line(
                    ask.host(),
                    modelClass(),
                    ask.flow(),
                    workspace(),
                    new TreeSet<>(privateScopes()),
                    countsAgents ? agent : "");
        }
    }

    // ---- what is in line

    Standing standing(Waiter waiter) {
        return lines.computeIfAbsent(waiter.line(), it -> new Standing());
    }

    /** In one line, by arrival; who was told to submit again stands in none. */
    List<Waiter> members(Line line) {
        return order.waiters.values().stream()
                .filter(w -> !w.again && w.line().equals(line))
                .sorted(Comparator.comparingLong(w -> w.arrival))
                .toList();
    }

    @Nullable
    Waiter head(Line line) {
        List<Waiter> members = members(line);
        return members.isEmpty() ? null : members.get(0);
    }

    boolean isReadyHead(Waiter waiter) {
        return !waiter.again && standing(waiter).isReady() && head(waiter.line()) == waiter;
    }

    private void stand(Waiter waiter, long now) {
        Host host = hosts.computeIfAbsent(waiter.ask.host(), it -> new Host());
        host.lookAt = host.lookAt == Long.MAX_VALUE ? now + waiter.ask.leaseUs() : host.lookAt;
        Standing standing = standing(waiter);
        if (head(waiter.line()) == waiter) {
            standing.parkedOn = null;
        }
    }

    private void join(Waiter waiter, long now) {
        order.join(waiter);
        stand(waiter, now);
    }

    /** Out of the line for good. */
    private void gone(Waiter waiter, boolean starts) {
        order.leave(waiter, starts);
        if (members(waiter.line()).isEmpty()) {
            lines.remove(waiter.line());
        }
    }

    /** The same for one that does not start. Whoever is parked behind it for a scope that has room is next. */
    void leave(Waiter waiter, long now) {
        boolean wasHead = !waiter.again && head(waiter.line()) == waiter;
        gone(waiter, false);
        if (wasHead) {
            nextOnes(waiter, now);
        }
    }

    void starts(Waiter waiter) {
        gone(waiter, true);
    }

    /** Parked behind one that is not tried any more: nobody else would wake them. */
    void nextOnes(Waiter waiter, long now) {
        waiter.privateScopes().forEach(scope -> unpark(scope, now));
    }

    void nextOnesWhereThereIsRoom(Waiter waiter, long now) {
        waiter.privateScopes().stream()
                .filter(scope -> !budget.look(scope, now).isFull())
                .forEach(scope -> unpark(scope, now));
    }

    List<Waiter> parkedOn(String scope) {
        List<Waiter> heads = new ArrayList<>();
        lines.forEach((line, standing) -> {
            Waiter head = head(line);
            if (head != null && scope.equals(standing.parkedOn)) {
                heads.add(head);
            }
        });
        heads.sort(Comparator.comparingLong(w -> w.arrival));
        return heads;
    }

    /** The first one may be tried. Should that wake nobody else, the next one is looked at a little later. */
    void unpark(String scope, long now) {
        List<Waiter> parked = parkedOn(scope);
        if (!parked.isEmpty()) {
            standing(parked.get(0)).parkedOn = null;
        }
        if (parked.size() > 1) {
            parkedUntil.merge(scope, now + NEXT_PARKED_AFTER, Math::min);
        }
    }

    private void isDue(String scope, long now) {
        parkedUntil.remove(scope);
        unpark(scope, now);
    }

    /** For the slots of a scope, or for its limits and then until they have refilled, or behind somebody. */
    void park(Waiter waiter, String scope, long now) {
        standing(waiter).parkedOn = scope;
        Shortage why = alone(scope, waiter, now);
        boolean isFirst = parkedOn(scope).get(0) == waiter;
        if (why.slots()) {
            parkedUntil.remove(scope);
        } else if (!why.fits() && isFirst) {
            parkedUntil.put(scope, now + why.exactUs());
        } else if (!why.fits()) {
            parkedUntil.merge(scope, now + why.exactUs(), Math::min);
        }
    }

    /** After another policy every reason may be gone. */
    void unparkAll() {
        if (servedVersion != budget.version) {
            lines.values().forEach(standing -> standing.parkedOn = null);
        }
        servedVersion = budget.version;
    }

    /** What keeps a waiter out of one scope. */
    Shortage alone(String scope, Waiter waiter, long now) {
        return budget.shortage(now, Map.of(scope, waiter.ask.costs().get(scope)), waiter.agent);
    }

    Shortage shortage(Waiter waiter, long now) {
        return budget.shortage(now, waiter.ask.costs(), waiter.agent);
    }

    // ---- 1. and 2.: who is alive, what is due

    private void beats(String host, long now) {
        Host it = hosts.computeIfAbsent(host, h -> new Host());
        it.lastBeat = now;

        lines.forEach((line, standing) -> standing.aside &= !line.host().equals(host));
    }

    private List<Waiter> of(String host) {
        return order.waiters.values().stream()
                .filter(w -> w.ask.host().equals(host))
                .sorted(Comparator.comparingLong(w -> w.arrival))
                .toList();
    }

    /** One thing that happens at an instant. */
    private record Due(long at, String member, Runnable what) {}

    private List<Due> dues(long now) {
        List<Due> dues = new ArrayList<>();
        budget.permits.forEach((id, permit) -> dues.add(new Due(permit.due, id, () -> ends(id, permit, now))));
        order.waiters.forEach((id, w) -> dues.add(new Due(w.deadline, id, () -> leave(w, now))));
        places.forEach((id, w) -> dues.add(new Due(w.deadline, id, () -> places.remove(id))));
        parkedUntil.forEach((scope, at) -> dues.add(new Due(at, scope, () -> isDue(scope, now))));
        budget.scopes.forEach((name, scope) ->
                scope.agents.forEach((agent, until) -> dues.add(new Due(until, name, () -> {
                    scope.agents.remove(agent);
                    scope.used = scope.agents.size();
                    unpark(name, now);
                }))));
        hosts.forEach((host, it) -> dues.add(new Due(it.lookAt, host, () -> dropIfSilent(host, it, now))));
        dues.removeIf(due -> due.at() > now);
        dues.sort(Comparator.comparingLong(Due::at).thenComparing(Due::member));
        return dues;
    }

    private void dropIfSilent(String host, Host it, long now) {
        List<Waiter> its = of(host);
        if (its.isEmpty()) {
            it.lookAt = Long.MAX_VALUE;
            return;
        }
        long goneAt = it.lastBeat + its.get(0).ask.leaseUs();
        if (goneAt > now) {
            it.lookAt = goneAt;
        } else {
            its.stream().limit(DROPPED_AT_MOST).forEach(w -> leave(w, now));
            it.lookAt = its.size() > DROPPED_AT_MOST ? now : Long.MAX_VALUE;
        }
    }

    /** How much is due: one run does 32 at most. */
    int howManyAreDue(long now) {
        return dues(now).size();
    }

    private void expire(long now) {
        dues(now).stream().limit(EXPIRED_AT_MOST).forEach(due -> due.what().run());
    }

    private void ends(String id, Permit permit, long now) {
        switch (permit.state) {
            case "running" -> {
                leaves(permit, now);
                permit.state = "expired";
                permit.due = ReferenceModel.roundedUp(now + 3600 * S);
            }
            case "granted" -> unclaimed(id, permit, now);
            default -> budget.permits.remove(id);
        }
    }

    /** As if it had never been granted; its host did not answer. */
    private void unclaimed(String id, Permit permit, long now) {
        Waiter back = Objects.requireNonNull(permit.asked);
        budget.permits.remove(id);
        undo(permit, now);
        join(back, now);
        order.correct(permit, null);
        order.disturb(back, 1);
        Objects.requireNonNull(hosts.get(back.ask.host())).becomesSilent(now);
    }

    private void undo(Permit permit, long now) {
        leaves(permit, now);
        budget.correct(permit, now, true, Map.of());
    }

    private void leaves(Permit permit, long now) {
        budget.leave(permit, now);
        permit.costs.keySet().stream()
                .filter(ReferenceModel::isMadeOnDemand)
                .sorted(Scripted::byPlace)
                .forEach(name -> unpark(name, now));
    }

    // ---- 3.: what callers want

    void install(long now, Scripted.Rules rules, ScopeLimits... scopes) {
        budget.install(now, scopes);
        budget.shadow = rules.mode().equals("shadow");
        maxWaiters = rules.maxWaiters();
        most = rules.most();
    }

    /**
     * @param why what keeps it out, or would have
     * @param position if it joined
     */
    record Answer(
            String code, @Nullable Shortage why, @Nullable Position position) {
        static Answer of(String code) {
            return new Answer(code, null, null);
        }
    }

    /** Its place in its flow, by how much what is told may be off, and how many wait there. */
    record Position(long place, long error, long waiting) {
        boolean allows(long told) {
            return told >= 1 && told <= waiting && Math.abs(told - place) <= error;
        }
    }

    Answer acquire(long now, Scripted.Ask ask) {
        expire(now);
        String id = ask.id();
        Permit permit = budget.permits.get(id);
        Waiter earlier = order.waiters.get(id);
        String digest = permit != null ? permit.digest : earlier != null ? earlier.ask.digest() : ask.digest();
        Answer answer;
        if (!digest.equals(ask.digest())) {
            answer = Answer.of("conflict");
        } else if (permit == null) {
            return decide(now, ask, earlier);
        } else if (permit.state.equals("granted") || permit.state.equals("running")) {
            claim(permit, now);
            answer = Answer.of("granted");
        } else {
            answer = Answer.of("ended");
        }
        serve(now);
        return answer;
    }

    private Answer decide(long now, Scripted.Ask ask, @Nullable Waiter earlier) {
        String id = ask.id();
        Waiter place = placeOf(ask);
        Waiter known = earlier != null ? earlier : place;
        Waiter waiter =
                new Waiter(ask, known != null ? known.arrival : ++arrivals, budget.version, now + ask.waitUs() + S);
        Shortage why = shortage(waiter, now);
        if (budget.shadow) {
            takeOut(earlier, id, now);
            start(waiter, now, true);
            serve(now);
            return new Answer("granted", why, null);
        }
        String refused = why.isForEver() ? why.code() : hasTooManyNames(waiter) ? "full" : "";
        boolean othersWait = order.waiters.values().stream().anyMatch(w -> w != earlier);
        boolean tries = ask.waitUs() == 0;
        if (refused.isEmpty() && !tries && why.exactUs() > ask.waitUs()) {
            refused = "wait";
        }
        if (refused.isEmpty() && earlier == null && !othersWait && why.fits()) {
            places.remove(id);
            start(waiter, now, true);
            return Answer.of("granted");
        }
        if (refused.isEmpty() && earlier == null && !othersWait && tries) {
            refused = "wait";
        }
        if (refused.isEmpty() && known == null && !tries && isLineFullFor(ask.agent())) {
            refused = "full";
        }
        if (!refused.isEmpty()) {
            takeOut(earlier, id, now);
            serve(now);
            return new Answer(refused, why, null);
        }
        if (!tries) {
            waiter.privateScopes().forEach(name -> budget.scope(name, now));
        }
        stand(waiter, earlier, now);
        beats(ask.host(), now);
        waiter.onlyTries = tries && earlier == null;
        serve(now);
        if (budget.permits.containsKey(id)) {
            claim(Objects.requireNonNull(budget.permits.get(id)), now);
            return Answer.of("granted");
        }
        Answer answer =
                new Answer(waiter.onlyTries ? "wait" : "waiting", shortage(waiter, now), order.position(waiter));
        if (waiter.onlyTries) {
            leave(waiter, now);
            serve(now);
        }
        return answer;
    }

    /** Kept for the same call only. */
    private @Nullable Waiter placeOf(Scripted.Ask ask) {
        Waiter place = places.get(ask.id());
        if (place != null && !place.ask.digest().equals(ask.digest())) {
            places.remove(ask.id());
            return null;
        }
        return place;
    }

    private void takeOut(@Nullable Waiter earlier, String id, long now) {
        places.remove(id);
        if (earlier != null) {
            leave(earlier, now);
        }
    }

    /** At its place: a new one's is the last, who comes again keeps what it had. */
    private void stand(Waiter waiter, @Nullable Waiter earlier, long now) {
        places.remove(waiter.ask.id());
        boolean staysThere = earlier != null
                && earlier.modelClass().equals(waiter.modelClass())
                && earlier.ask.flow().equals(waiter.ask.flow());
        if (earlier == null || !staysThere) {
            takeOut(earlier, waiter.ask.id(), now);
            join(waiter, now);
            return;
        }
        order.disturb(earlier, 1);
        boolean wasHead = !earlier.again && head(earlier.line()) == earlier;
        order.waiters.put(waiter.ask.id(), waiter);
        if (members(earlier.line()).isEmpty()) {
            lines.remove(earlier.line());
        }
        stand(waiter, now);
        if (wasHead && !waiter.line().equals(earlier.line())) {
            nextOnes(earlier, now);
        }
    }

    private boolean hasTooManyNames(Waiter waiter) {
        return waiter.privateScopes().stream()
                .filter(ReferenceModel::isMadeOnDemand)
                .anyMatch(name -> !budget.scopes.containsKey(name)
                        && most.getOrDefault(name.substring(0, 2), Long.MAX_VALUE) <= inUse(name.substring(0, 2)));
    }

    private long inUse(String template) {
        return budget.scopes.keySet().stream()
                .filter(name -> name.startsWith(template))
                .count();
    }

    private boolean isLineFullFor(String agent) {
        long its = order.waiters.values().stream()
                .filter(w -> w.agent.equals(agent))
                .count();
        boolean hasHalf = !agent.equals("-") && its >= Math.max(1, maxWaiters / 2);
        return order.waiters.size() >= maxWaiters || hasHalf;
    }

    /** It takes everything: running at once, or to be claimed. */
    void start(Waiter waiter, long now, boolean atOnce) {
        Scripted.Ask ask = waiter.ask;
        Permit permit = budget.take(now, ask.digest(), ask.leaseUs(), ask.costs());
        permit.asked = waiter;
        permit.state = atOnce ? "running" : "granted";
        permit.due = now + (atOnce ? ask.leaseUs() : CLAIM_WITHIN);
        budget.permits.put(ask.id(), permit);
        budget.active(permit, now)
                .forEach(scope -> lines.forEach((line, standing) -> {
                    if (scope.equals(standing.parkedOn) && line.agent().equals(waiter.agent)) {
                        standing.parkedOn = null;
                    }
                }));
    }

    private static void claim(Permit permit, long now) {
        if (permit.state.equals("granted")) {
            permit.state = "running";
            permit.due = now + permit.lease;
        }
    }

    private boolean serve(long now) {
        if (order.waiters.isEmpty()) {
            return false;
        }
        unparkAll();
        return new ReferenceServe(this, now).run();
    }

    ReferenceModel.Ending settle(long now, String id, String how, Map<String, Map<String, Long>> used) {
        expire(now);
        ReferenceModel.Ending ending = end(now, id, how, used);
        serve(now);
        return ending;
    }

    private ReferenceModel.Ending end(long now, String id, String how, Map<String, Map<String, Long>> used) {
        boolean nothing = how.equals("cancelled") || how.equals("undone");
        Waiter waiter = order.waiters.get(id);
        if (waiter != null && nothing) {
            leave(waiter, now);
            return new ReferenceModel.Ending(how, false);
        }
        if (nothing && places.remove(id) != null) {
            return new ReferenceModel.Ending(how, false);
        }
        Permit permit = budget.permits.get(id);
        if (permit == null) {
            return new ReferenceModel.Ending("unknown", false);
        }
        if (nothing && permit.state.equals("granted")) {
            budget.permits.remove(id);
            undo(permit, now);
            order.correct(permit, null);
            return new ReferenceModel.Ending(how, false);
        }
        claim(permit, now);
        boolean runs = permit.state.equals("running");
        boolean late = permit.state.equals("expired") && (!nothing || how.equals("undone"));
        if (!runs && !late) {
            return new ReferenceModel.Ending(permit.state.equals("booked") ? "expired" : permit.state, true);
        }
        if (runs) {
            leaves(permit, now);
        }
        budget.correct(permit, now, nothing, used);
        if (nothing || !used.isEmpty()) {
            order.correct(permit, nothing ? null : used);
        }
        if (how.equals("undone")) {
            budget.permits.remove(id);
            return new ReferenceModel.Ending(how, false);
        }
        permit.state = late ? "booked" : how;
        permit.due = ReferenceModel.roundedUp(now + 600 * S);
        return new ReferenceModel.Ending(permit.state, late);
    }

    /** Gave up at its deadline. Whether there was such a waiter. */
    boolean refused(long now, String id, long placeUs) {
        expire(now);
        Permit permit = budget.permits.get(id);
        Waiter waiter = order.waiters.get(id);
        if (permit != null && permit.state.equals("granted")) {
            waiter = Objects.requireNonNull(permit.asked);
            budget.permits.remove(id);
            undo(permit, now);
            order.correct(permit, null);
        } else if (waiter != null) {
            leave(waiter, now);
        }
        if (waiter != null && places.size() < maxWaiters) {
            waiter.deadline = now + placeUs;
            places.put(id, waiter);
        }
        serve(now);
        return waiter != null || places.containsKey(id);
    }

    /**
     * @param hosts how many beat within the last minute
     * @param claims granted, waiting or gone
     * @param more the ids to claim and to submit again
     */
    record Beat(
            long hosts,
            boolean more,
            List<Boolean> renewed,
            List<String> claims,
            Set<String> grants,
            Set<String> again,
            List<Answer> looks) {}

    Beat beat(long now, String host, List<String> permits, List<String> claims, List<String> looks) {
        expire(now);
        beats(host, now);
        List<Boolean> renewed = new ArrayList<>();
        for (String id : permits) {
            Permit permit = budget.permits.get(id);
            boolean runs = permit != null && permit.state.equals("running");
            if (runs) {
                permit.due = now + permit.lease;
                budget.stillActive(permit, now);
            }
            renewed.add(runs);
        }
        List<String> claimed = new ArrayList<>();
        for (String id : claims) {
            Permit permit = budget.permits.get(id);
            if (permit != null) {
                claim(permit, now);
            }
            boolean runs = permit != null && permit.state.equals("running");
            claimed.add(runs ? "granted" : order.waiters.containsKey(id) ? "waiting" : "gone");
        }
        boolean more = serve(now);
        Set<String> grants = new TreeSet<>();
        budget.permits.forEach((id, permit) -> {
            if (permit.state.equals("granted")
                    && Objects.requireNonNull(permit.asked).ask.host().equals(host)) {
                grants.add(id);
            }
        });
        Set<String> again = new TreeSet<>();
        of(host).stream().filter(w -> w.again).forEach(w -> again.add(w.ask.id()));
        long alive =
                hosts.values().stream().filter(it -> now - it.lastBeat < 60 * S).count();
        return new Beat(
                alive,
                more || howManyAreDue(now) > 0,
                renewed,
                claimed,
                grants,
                again,
                looks.stream().map(id -> look(id, now)).toList());
    }

    private Answer look(String id, long now) {
        Waiter waiter = order.waiters.get(id);
        Permit permit = budget.permits.get(id);
        if (waiter != null && waiter.again) {
            return Answer.of("again");
        }
        if (waiter != null) {
            // What it asked for under an older policy says nothing about today's limits.
            boolean isOld = waiter.version != budget.version;
            return new Answer("waiting", isOld ? null : shortage(waiter, now), order.position(waiter));
        }
        return Answer.of(permit != null && permit.state.equals("granted") ? "granted" : "gone");
    }
}
