package io.sluice;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The calls of one project that ask or stand in line in this process, by id. Several callers may want the same id: then it
 * is one permit, and it goes back only if none of them wants it any more.
 */
final class Waiters {
    /** Beyond that the search for calls that stand in line goes on with the next beat. */
    private static final int SEEN_AT_ONCE = 128;

    /** Who was looked after longest ago comes first. */
    private final Map<String, List<Waiter>> byId = new LinkedHashMap<>();

    private int standing;

    /** Makes a waiter: under the name of another one that wants the same, if there is one. */
    synchronized Waiter enter(Store.PermitName fresh, String digest, Function<Store.PermitName, Waiter> make) {
        List<Waiter> others = byId.computeIfAbsent(fresh.id(), any -> new ArrayList<>(1));
        Waiter waiter = make.apply(others.stream()
                .filter(other -> other.digest.equals(digest))
                .map(other -> other.name)
                .findFirst()
                .orElse(fresh));
        others.add(waiter);
        return waiter;
    }

    /** It wants nothing any more. */
    synchronized void leave(Waiter waiter) {
        List<Waiter> all = byId.get(waiter.name.id());
        if (all != null && all.remove(waiter)) {
            if (waiter.state.compareAndSet(Waiter.State.STANDING, Waiter.State.APART)) {
                standing--;
            }
            if (all.isEmpty()) {
                byId.remove(waiter.name.id());
            }
        }
    }

    /** Its question was answered: it stands in line now. */
    synchronized void stands(Waiter waiter) {
        if (byId.getOrDefault(waiter.name.id(), List.of()).contains(waiter)
                && waiter.state.compareAndSet(Waiter.State.ASKING, Waiter.State.STANDING)) {
            standing++;
        } else {
            waiter.state.compareAndSet(Waiter.State.ASKING, Waiter.State.APART);
        }
    }

    /** Those of an id that stand in line and must ask again; from now on they do. */
    synchronized List<Waiter> toAsk(String id) {
        List<Waiter> toAsk = new ArrayList<>(1);
        for (Waiter waiter : byId.getOrDefault(id, List.of())) {
            if (waiter.state.compareAndSet(Waiter.State.STANDING, Waiter.State.ASKING)) {
                standing--;
                toAsk.add(waiter);
            }
        }
        return toAsk;
    }

    /** Those of an id that stand in line. */
    synchronized List<Waiter> standing(String id) {
        return byId.getOrDefault(id, List.of()).stream()
                .filter(waiter -> waiter.state.get() == Waiter.State.STANDING)
                .toList();
    }

    /**
     * Whether somebody wants the permit of this name. Who has got or given up does not, even if it was not told yet: two who
     * give up at the same time must not both leave it to the other.
     */
    synchronized boolean wants(Store.PermitName name) {
        return byId.getOrDefault(name.id(), List.of()).stream()
                .anyMatch(waiter -> !waiter.isDone() && waiter.name.equals(name));
    }

    synchronized boolean wants(String id) {
        return byId.getOrDefault(id, List.of()).stream().anyMatch(waiter -> !waiter.isDone());
    }

    /** The next ids in line to look after, in turn, but for some. */
    synchronized List<String> turn(int most, List<String> except) {
        List<String> turn = new ArrayList<>();
        int seen = 0;
        while (turn.size() < most && seen < byId.size() && seen < SEEN_AT_ONCE) {
            Map.Entry<String, List<Waiter>> first = byId.entrySet().iterator().next();
            byId.remove(first.getKey());
            byId.put(first.getKey(), first.getValue());
            seen++;
            if (!except.contains(first.getKey())
                    && first.getValue().stream().anyMatch(waiter -> waiter.state.get() == Waiter.State.STANDING)) {
                turn.add(first.getKey());
            }
        }
        return turn;
    }

    /** How many stand in line. */
    synchronized int standing() {
        return standing;
    }

    synchronized List<Waiter> all() {
        return byId.values().stream().flatMap(List::stream).toList();
    }
}
