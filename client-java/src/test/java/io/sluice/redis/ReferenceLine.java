package io.sluice.redis;

import static io.sluice.redis.Scripted.S;

import io.sluice.redis.ReferenceModel.Permit;
import io.sluice.redis.ReferenceModel.Shortage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Calls that cannot start yet, and where they stand: lines, which of them can be tried, places that are kept, hosts. Order
 * and tags: {@link ReferenceOrder}; who starts in one run: {@link ReferenceServe}; limits and permits: {@link
 * ReferenceModel}; what is due: {@link ReferenceExpiry}; the scripts themselves: {@link ReferenceScripts}.
 */
final class ReferenceLine {
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
        private final String modelClass;
        private final String workspace;
        private final List<String> privateScopes;
        private final Line line;
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
            modelClass = first("c:").replace("c:", "");
            workspace = first("w:").replace("w:", "").replaceAll("\\|.*", "");
            privateScopes = scopes("aern");
            boolean countsAgents = privateScopes.stream().anyMatch(name -> name.startsWith("n:"));
            line = new Line(
                    ask.host(),
                    modelClass,
                    ask.flow(),
                    workspace,
                    new TreeSet<>(privateScopes),
                    countsAgents ? agent : "");
        }

        private String first(String kind) {
            return ask.costs().keySet().stream()
                    .filter(name -> name.startsWith(kind))
                    .min(Comparator.naturalOrder())
                    .orElse("");
        }

        String modelClass() {
            return modelClass;
        }

        String workspace() {
            return workspace;
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
            return privateScopes;
        }

        Line line() {
            return line;
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

    void stand(Waiter waiter, long now) {
        Host host = hosts.computeIfAbsent(waiter.ask.host(), it -> new Host());
        host.lookAt = host.lookAt == Long.MAX_VALUE ? now + waiter.ask.leaseUs() : host.lookAt;
        Standing standing = standing(waiter);
        if (head(waiter.line()) == waiter) {
            standing.parkedOn = null;
        }
    }

    void join(Waiter waiter, long now) {
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

    /** Its place in its flow, by how much what is told may be off, and how many wait there. */
    record Position(long place, long error, long waiting) {
        boolean allows(long told) {
            return told >= 1 && told <= waiting && Math.abs(told - place) <= error;
        }
    }

    void beats(String host, long now) {
        Host it = hosts.computeIfAbsent(host, h -> new Host());
        it.lastBeat = now;
        lines.forEach((line, standing) -> standing.aside &= !line.host().equals(host));
    }

    List<Waiter> of(String host) {
        return order.waiters.values().stream()
                .filter(w -> w.ask.host().equals(host))
                .sorted(Comparator.comparingLong(w -> w.arrival))
                .toList();
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
}
