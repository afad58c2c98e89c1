package io.sluice.redis;

import static io.sluice.redis.Scripted.S;

import io.sluice.redis.ReferenceLine.Waiter;
import io.sluice.redis.ReferenceModel.Limit;
import io.sluice.redis.ReferenceModel.Scope;
import java.math.BigInteger;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** One run through the line: firm waiters first, then heads in order, until nobody can start or the run has done enough. */
final class ReferenceServe {
    private static final int GRANTS_AT_MOST = 16;
    private static final int TRIES_AT_MOST = 64;
    private static final String SLOTS = "concurrency";

    private final ReferenceLine line;
    private final ReferenceOrder order;
    private final ReferenceModel budget;
    private final long now;

    /** What firm waiters were found short on: they are not looked at twice. */
    private final Map<Waiter, Set<String>> firmLacks = new HashMap<>();

    private int grants;
    private int tries;
    private final Map<Waiter, Map<String, Map<String, BigInteger>>> kept = new HashMap<>();
    private final Set<String> closedLimits = new HashSet<>();
    private final Set<String> closedClasses = new HashSet<>();
    private final Set<String> closedGroups = new HashSet<>();
    private final Set<String> blockedClasses = new HashSet<>();

    ReferenceServe(ReferenceLine line, long now) {
        this.line = line;
        this.order = line.order;
        this.budget = line.budget;
        this.now = now;
    }

    /** A flow's part of one class and workspace: what is found closed or not as a whole. */
    private record Lane(String modelClass, String flow, String workspace) {
        static Lane of(Waiter w) {
            return new Lane(w.modelClass(), w.ask.flow(), w.workspace());
        }

        String team() {
            return flow.substring(0, flow.indexOf('|'));
        }

        String name() {
            return flow + "|" + workspace;
        }
    }

    /** Whether it stopped because it had done enough: what it found closed stays so for the next run. */
    boolean run() {
        closedClasses.addAll(line.closedClasses);
        closedGroups.addAll(line.closedGroups);
        closedLimits.addAll(line.closedLimits);
        line.closedClasses = Set.of();
        line.closedGroups = Set.of();
        line.closedLimits = Set.of();
        firmOnes();
        while (true) {
            String modelClass = nextClass();
            if (modelClass == null) {
                return false;
            }
            if (grants >= GRANTS_AT_MOST || tries >= TRIES_AT_MOST) {
                line.closedClasses = closedClasses;
                line.closedGroups = closedGroups;
                line.closedLimits = closedLimits;
                return true;
            }
            Lane lane = nextLane(modelClass);
            if (lane == null) {
                closedClasses.add(modelClass);
            } else {
                tries++;
                attempt(readyIn(lane).get(0));
            }
        }
    }

    // ---- firm waiters

    private void firmOnes() {
        Map<Waiter, String> firm = new TreeMap<>(Comparator.comparingLong((Waiter w) -> w.arrival));
        order.classes.forEach((name, it) -> {
            Waiter waiter = it.firm == null ? null : order.waiters.get(it.firm);
            if (waiter != null && waiter.modelClass().equals(name)) {
                firm.put(waiter, name);
            } else {
                it.firm = null;
            }
        });
        firm.forEach((waiter, modelClass) -> {
            if (!mayStayFirm(waiter)) {
                order.of(modelClass).firm = null;
                return;
            }
            Set<String> lacking = shortOn(waiter);
            if (lacking.isEmpty()) {
                grant(waiter);
            } else {
                keep(waiter, lacking);
            }
        });
    }

    private boolean mayStayFirm(Waiter waiter) {
        return !waiter.again
                && !host(waiter).isSilent(now)
                && waiter.version == budget.version
                && waiter.privateScopes().stream()
                        .allMatch(scope -> line.alone(scope, waiter, now).fits());
    }

    private ReferenceLine.Host host(Waiter waiter) {
        return Objects.requireNonNull(line.hosts.get(waiter.ask.host()));
    }

    /** What nobody else may take: a slot everywhere; and if it lacks none, its tokens too. */
    private void keep(Waiter waiter, Set<String> lacking) {
        firmLacks.put(waiter, lacking);
        boolean lacksSlots = lacking.stream().anyMatch(it -> it.endsWith(" " + SLOTS));
        Map<String, Map<String, BigInteger>> its = new TreeMap<>();
        for (String name : waiter.sharedScopes()) {
            Scope scope = budget.look(name, now);
            Map<String, BigInteger> ofScope = new TreeMap<>();
            if (scope.slots >= 0) {
                ofScope.put(SLOTS, BigInteger.ONE);
            }
            for (Limit limit : scope.limits.values()) {
                if (limit.active && !lacksSlots) {
                    ofScope.put(limit.is.name(), needed(waiter, name, limit).min(capacity(limit)));
                }
            }
            its.put(name, ofScope);
        }
        kept.put(waiter, its);
    }

    private static BigInteger capacity(Limit limit) {
        return BigInteger.valueOf(limit.is.capacity());
    }

    private static long units(Waiter waiter, String scope, Limit limit) {
        return waiter.ask.costs().get(scope).getOrDefault(limit.is.name(), 0L);
    }

    private static BigInteger needed(Waiter waiter, String scope, Limit limit) {
        return BigInteger.valueOf(units(waiter, scope, limit)).multiply(BigInteger.valueOf(limit.is.factor()));
    }

    private BigInteger keptByOthers(Waiter waiter, String scope, String limit) {
        return kept.entrySet().stream()
                .filter(it -> it.getKey() != waiter)
                .map(it -> it.getValue().getOrDefault(scope, Map.of()).getOrDefault(limit, BigInteger.ZERO))
                .reduce(BigInteger.ZERO, BigInteger::add);
    }

    /** The limits of shared scopes, as {@code scope limit}, that do not let it in. */
    private Set<String> shortOn(Waiter waiter) {
        Set<String> lacking = new HashSet<>();
        for (String name : waiter.sharedScopes()) {
            Scope scope = budget.look(name, now);
            long slotsTaken = scope.used + keptByOthers(waiter, name, SLOTS).longValueExact();
            if (scope.slots >= 0 && slotsTaken >= scope.slots) {
                lacking.add(name + " " + SLOTS);
            }
            for (Limit limit : scope.limits.values()) {
                if (!limit.active) {
                    continue;
                }
                BigInteger keptUnits = keptByOthers(waiter, name, limit.is.name());
                BigInteger goal = needed(waiter, name, limit).min(capacity(limit));
                boolean tooLow = scope.levelAt(now, limit).subtract(keptUnits).compareTo(goal) < 0;
                if (tooLow || ReferenceModel.wait(scope, limit, now, units(waiter, name, limit)) > 0) {
                    lacking.add(name + " " + limit.is.name());
                }
            }
        }
        return lacking;
    }

    // ---- the order

    private List<Waiter> readyIn(String modelClass) {
        return order.waitingIn(modelClass).stream()
                .filter(line::isReadyHead)
                .sorted(Comparator.comparingLong(w -> w.arrival))
                .toList();
    }

    private List<Waiter> readyIn(Lane lane) {
        return readyIn(lane.modelClass()).stream()
                .filter(w -> Lane.of(w).equals(lane))
                .toList();
    }

    @Nullable
    private String nextClass() {
        return order.classes.keySet().stream()
                .filter(name -> !closedClasses.contains(name) && !readyIn(name).isEmpty())
                .min(Comparator.<String>comparingLong(name -> order.of(name).tag)
                        .thenComparing(Comparator.naturalOrder()))
                .orElse(null);
    }

    @Nullable
    private Lane nextLane(String modelClass) {
        List<Lane> lanes = readyIn(modelClass).stream()
                .sorted(Comparator.<Waiter>comparingLong(order::tag)
                        .thenComparingLong(w -> w.arrival)
                        .thenComparing(w -> Lane.of(w).name()))
                .map(Lane::of)
                .distinct()
                .toList();
        for (Lane lane : lanes) {
            if (!isClosed(lane)) {
                return lane;
            }
            passOver(readyIn(lane).get(0));
        }
        return null;
    }

    /** It waits for others of its team or workspace, as patiently as if it had been tried. */
    private void passOver(Waiter waiter) {
        if (!host(waiter).isSilent(now)
                && waiter.deadline > now
                && waiter.version == budget.version
                && parksOn(waiter) == null) {
            isBlocked(waiter);
        }
    }

    private boolean isClosed(Lane lane) {
        return List.of("t:" + lane.team(), "w:" + lane.workspace()).stream()
                .anyMatch(group ->
                        closedGroups.contains(group) || closedGroups.contains(group + "|" + lane.modelClass()));
    }

    // ---- one head

    private void attempt(Waiter waiter) {
        String parksOn = parksOn(waiter);
        if (firmLacks.containsKey(waiter)) {
            close(waiter, Objects.requireNonNull(firmLacks.get(waiter)));
            blocked(waiter);
        } else if (host(waiter).isSilent(now)) {
            line.standing(waiter).aside = true;
            line.nextOnes(waiter, now);
        } else if (waiter.deadline <= now) {
            line.leave(waiter, now);
        } else if (waiter.version != budget.version) {
            waiter.again = true;
            if (line.members(waiter.line()).isEmpty()) {
                line.lines.remove(waiter.line());
            }
            line.nextOnes(waiter, now);
        } else if (parksOn != null) {
            line.park(waiter, parksOn, now);
        } else if (needsAClosedLimit(waiter)) {
            closedClasses.add(waiter.modelClass());
            blocked(waiter);
        } else {
            Set<String> lacking = shortOn(waiter);
            if (lacking.isEmpty()) {
                grant(waiter);
            } else {
                close(waiter, lacking);
                blocked(waiter);
            }
        }
    }

    /** The first private scope that is short, or where somebody waits who came before. */
    @Nullable
    private String parksOn(Waiter waiter) {
        for (String scope : waiter.privateScopes()) {
            if (budget.look(scope, now).agents.containsKey(waiter.agent)) {
                continue;
            }
            boolean behind = line.parkedOn(scope).stream().anyMatch(other -> other.arrival < waiter.arrival);
            if (behind || !line.alone(scope, waiter, now).fits()) {
                return scope;
            }
        }
        return null;
    }

    private boolean needsAClosedLimit(Waiter waiter) {
        return closedLimits.stream()
                .anyMatch(limit ->
                        limit.equals(SLOTS) || waiter.ask.costs().get("p").getOrDefault(limit, 0L) > 0);
    }

    private void close(Waiter waiter, Set<String> lacking) {
        for (String it : lacking) {
            String scope = it.substring(0, it.indexOf(' '));
            switch (scope.charAt(0)) {
                case 'p' -> {
                    closedLimits.add(it.substring(2));
                    closedClasses.add(waiter.modelClass());
                }
                case 'c' -> closedClasses.add(waiter.modelClass());
                default -> closedGroups.add(scope);
            }
        }
    }

    private void blocked(Waiter waiter) {
        isBlocked(waiter);
        line.nextOnesWhereThereIsRoom(waiter, now);
    }

    private void isBlocked(Waiter waiter) {
        if (waiter.onlyTries || !blockedClasses.add(waiter.modelClass())) {
            return;
        }
        ReferenceOrder.ClassLine it = order.of(waiter.modelClass());
        String id = waiter.ask.id();
        if (!id.equals(it.candidate) || it.since > now) {
            it.candidate = id;
            it.since = now;
        } else if (it.firm == null && now - it.since > patience(waiter)) {
            it.firm = id;
            keep(waiter, shortOn(waiter));
        }
    }

    /** Twice what its largest cost takes to refill, a second at least. */
    private long patience(Waiter waiter) {
        long longest = 0;
        for (String name : waiter.sharedScopes()) {
            for (Limit limit : budget.look(name, now).limits.values()) {
                if (limit.active && limit.is.rate() > 0) {
                    BigInteger ticks = needed(waiter, name, limit).divide(BigInteger.valueOf(limit.is.rate()));
                    longest = Math.max(longest, ticks.longValueExact() * limit.is.tickUs());
                }
            }
        }
        return Math.max(S, 2 * longest);
    }

    private void grant(Waiter waiter) {
        grants++;
        order.advance(waiter);
        ReferenceOrder.ClassLine it = order.of(waiter.modelClass());
        if (waiter.ask.id().equals(it.firm)) {
            it.firm = null;
        }
        kept.remove(waiter);
        line.start(waiter, now, false);
        line.starts(waiter);
        line.nextOnesWhereThereIsRoom(waiter, now);
    }
}
