package io.sluice.redis;

import static io.sluice.redis.Scripted.S;

import io.sluice.ScopeLimits;
import io.sluice.redis.ReferenceLine.Position;
import io.sluice.redis.ReferenceLine.Waiter;
import io.sluice.redis.ReferenceModel.Permit;
import io.sluice.redis.ReferenceModel.Shortage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What each script must do, said as plainly as possible: what is due, then what the caller wants, then who starts. The
 * time of a step is given: what the scripts take for the time, Redis's clock a little back included.
 */
final class ReferenceScripts {
    final ReferenceLine line = new ReferenceLine();
    final ReferenceModel budget = line.budget;
    final ReferenceOrder order = line.order;
    final ReferenceExpiry expiry = new ReferenceExpiry(line);
    private long maxWaiters;
    private Map<String, Long> most = Map.of();
    private long arrivals;

    void install(long now, Scripted.Rules rules, ScopeLimits... scopes) {
        budget.install(now, rules.calendars(), scopes);
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

    Answer acquire(long now, Scripted.Ask ask) {
        expiry.expire(now);
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
            permit.claim(now);
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
        Shortage why = line.shortage(waiter, now);
        if (budget.shadow) {
            takeOut(earlier, id, now);
            line.start(waiter, now, true);
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
            line.places.remove(id);
            line.start(waiter, now, true);
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
        line.beats(ask.host(), now);
        waiter.onlyTries = tries && earlier == null;
        serve(now);
        if (budget.permits.containsKey(id)) {
            Objects.requireNonNull(budget.permits.get(id)).claim(now);
            return Answer.of("granted");
        }
        Answer answer =
                new Answer(waiter.onlyTries ? "wait" : "waiting", line.shortage(waiter, now), order.position(waiter));
        if (waiter.onlyTries) {
            line.leave(waiter, now);
            serve(now);
        }
        return answer;
    }

    /** Kept for the same call only. */
    private @Nullable Waiter placeOf(Scripted.Ask ask) {
        Waiter place = line.places.get(ask.id());
        if (place != null && !place.ask.digest().equals(ask.digest())) {
            line.places.remove(ask.id());
            return null;
        }
        return place;
    }

    private void takeOut(@Nullable Waiter earlier, String id, long now) {
        line.places.remove(id);
        if (earlier != null) {
            line.leave(earlier, now);
        }
    }

    /** At its place: a new one's is the last, who comes again keeps what it had. */
    private void stand(Waiter waiter, @Nullable Waiter earlier, long now) {
        line.places.remove(waiter.ask.id());
        boolean staysThere = earlier != null
                && earlier.modelClass().equals(waiter.modelClass())
                && earlier.ask.flow().equals(waiter.ask.flow());
        if (earlier == null || !staysThere) {
            takeOut(earlier, waiter.ask.id(), now);
            line.join(waiter, now);
            return;
        }
        order.disturb(earlier, 1);
        boolean wasHead = !earlier.again && line.head(earlier.line()) == earlier;
        order.waiters.put(waiter.ask.id(), waiter);
        if (line.members(earlier.line()).isEmpty()) {
            line.lines.remove(earlier.line());
        }
        line.stand(waiter, now);
        if (wasHead && !waiter.line().equals(earlier.line())) {
            line.nextOnes(earlier, now);
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

    private boolean serve(long now) {
        if (order.waiters.isEmpty()) {
            return false;
        }
        line.unparkAll();
        return new ReferenceServe(line, now).run();
    }

    ReferenceModel.Ending settle(long now, String id, String how, Map<String, Map<String, Long>> used) {
        expiry.expire(now);
        ReferenceModel.Ending ending = end(now, id, how, used);
        serve(now);
        return ending;
    }

    private ReferenceModel.Ending end(long now, String id, String how, Map<String, Map<String, Long>> used) {
        boolean nothing = how.equals("cancelled") || how.equals("undone");
        Waiter waiter = order.waiters.get(id);
        if (waiter != null && nothing) {
            line.leave(waiter, now);
            return new ReferenceModel.Ending(how, false);
        }
        if (nothing && line.places.remove(id) != null) {
            return new ReferenceModel.Ending(how, false);
        }
        Permit permit = budget.permits.get(id);
        if (permit == null) {
            return new ReferenceModel.Ending("unknown", false);
        }
        if (nothing && permit.state.equals("granted")) {
            budget.permits.remove(id);
            expiry.undo(permit, now);
            order.correct(permit, null);
            return new ReferenceModel.Ending(how, false);
        }
        permit.claim(now);
        boolean runs = permit.state.equals("running");
        boolean late = permit.state.equals("expired") && (!nothing || how.equals("undone"));
        if (!runs && !late) {
            return new ReferenceModel.Ending(permit.state.equals("booked") ? "expired" : permit.state, true);
        }
        if (runs) {
            expiry.leaves(permit, now);
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
        expiry.expire(now);
        Permit permit = budget.permits.get(id);
        Waiter waiter = order.waiters.get(id);
        if (permit != null && permit.state.equals("granted")) {
            waiter = Objects.requireNonNull(permit.asked);
            budget.permits.remove(id);
            expiry.undo(permit, now);
            order.correct(permit, null);
        } else if (waiter != null) {
            line.leave(waiter, now);
        }
        if (waiter != null && line.places.size() < maxWaiters) {
            waiter.deadline = now + placeUs;
            line.places.put(id, waiter);
        }
        serve(now);
        return waiter != null || line.places.containsKey(id);
    }

    /**
     * @param hosts how many beat within the last minute
     * @param claims granted, waiting or gone
     * @param more the ids to claim and to submit again
     */
    record Beat(
            long hosts,
            boolean more,
            List<Long> renewed,
            List<String> claims,
            Set<String> grants,
            Set<String> again,
            List<Answer> looks) {}

    Beat beat(long now, String host, List<String> permits, List<String> claims, List<String> looks) {
        expiry.expire(now);
        line.beats(host, now);
        List<Long> renewed = new ArrayList<>();
        for (String id : permits) {
            Permit permit = budget.permits.get(id);
            boolean runs = permit != null && permit.state.equals("running");
            if (runs) {
                permit.due = now + permit.lease;
                budget.stillActive(permit, now);
            }
            renewed.add(permit == null ? 2L : runs ? 1L : 0L);
        }
        List<String> claimed = new ArrayList<>();
        for (String id : claims) {
            Permit permit = budget.permits.get(id);
            if (permit != null) {
                permit.claim(now);
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
        line.of(host).stream().filter(w -> w.again).forEach(w -> again.add(w.ask.id()));
        long alive = line.hosts.values().stream()
                .filter(it -> now - it.lastBeat < 60 * S)
                .count();
        return new Beat(
                alive,
                more || expiry.howManyAreDue(now) > 0,
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
            return new Answer("waiting", isOld ? null : line.shortage(waiter, now), order.position(waiter));
        }
        return Answer.of(permit != null && permit.state.equals("granted") ? "granted" : "gone");
    }
}
