package io.sluice;

import io.sluice.Store.ScopeCost;
import java.util.ArrayList;
import java.util.List;

/**
 * What a permit has taken in this process: its slots, and on each limit a stretch of refill. Where Redis let it start this only
 * keeps the local share warm; where the share did, it says what Redis must still be told.
 *
 * <p>Example: a call that cost 2 s of refill and was the last to start is refilled 2 s later. Told of it after 500 ms, Redis is
 * charged three quarters of its cost; after 2 s, nothing: had Redis been charged at the time, it would have refilled since. Of a
 * limit by windows all is told, however late.
 */
final class LocalGrant {
    private final List<ScopeCost> estimate;
    final List<LocalScope> slots;
    final List<Taken> taken;
    boolean ended;

    LocalGrant(List<ScopeCost> estimate, List<LocalScope> slots, List<Taken> taken) {
        this.estimate = estimate;
        this.slots = slots;
        this.taken = taken;
    }

    /** What was taken of one limit. */
    static final class Taken {
        /** Usage is booked up to so many times the estimate, or a minute of the limit, as the scripts have it. */
        private static final long AT_MOST = 4;

        final LocalLimit limit;
        private final int scope;
        private final int position;
        private final boolean window;
        private final double part;
        private final boolean warm;
        private final long most;
        private long units;
        private long costNs;
        private long goodAtNs;

        Taken(
                LocalLimit limit,
                RefillLimit of,
                int scope,
                int position,
                double part,
                boolean warm,
                long units,
                long costNs) {
            this.limit = limit;
            this.scope = scope;
            this.position = position;
            this.window = of.rate() == 0;
            this.most = Math.max(AT_MOST * units, of.minute());
            this.part = part;
            this.warm = warm;
            this.units = units;
            this.costNs = costNs;
            this.goodAtNs = limit.goodAtNs();
        }

        /** It was that much, not the estimate. What is refilled already does not come back a second time. */
        void used(long told, long nowNs) {
            long used = Math.min(told, most);
            long more = used - units;
            if (more > 0) {
                long extra = limit.costNs(more, part);
                long charged = warm ? limit.warm(extra, more) : extra;
                if (!warm) {
                    limit.take(extra, more);
                }
                costNs += charged;
                goodAtNs = Math.max(goodAtNs, nowNs) + charged;
            } else if (more < 0) {
                long back = Math.min(Math.min(costNs, limit.costNs(-more, part)), Math.max(0, goodAtNs - nowNs));
                limit.giveBack(back);
                costNs -= back;
                goodAtNs -= back;
            }
            units = used;
        }

        /** What Redis lacks of it now. */
        private long owed(long nowNs) {
            if (window || part <= 0) {
                return units;
            }
            long ns = Math.max(0, Math.min(costNs, goodAtNs - nowNs));
            return Math.min(units, LocalLimit.unitsOf(ns, limit.pace.nsPerUnit() / part));
        }
    }

    /** By scope and limit, what was used instead of the estimate. */
    void used(List<ScopeCost> used, long nowNs) {
        for (Taken one : taken) {
            one.used(used.get(one.scope).units().get(one.position), nowNs);
        }
    }

    /**
     * What is booked at the end of a permit that Redis was charged {@code asserted} for: as much more or less than that as the usage is
     * than the estimate.
     */
    List<ScopeCost> inPlaceOf(List<ScopeCost> asserted, List<ScopeCost> used) {
        List<ScopeCost> all = new ArrayList<>(used.size());
        for (int i = 0; i < used.size(); i++) {
            List<Long> units = new ArrayList<>();
            for (int k = 0; k < used.get(i).units().size(); k++) {
                long more = used.get(i).units().get(k) - estimate.get(i).units().get(k);
                units.add(Math.max(0, asserted.get(i).units().get(k) + more));
            }
            all.add(new ScopeCost(used.get(i).scope(), units));
        }
        return all;
    }

    /** What Redis must be charged for it now, in the shape of its costs. */
    List<ScopeCost> owed(long nowNs) {
        List<long[]> units = new ArrayList<>(estimate.size());
        for (ScopeCost cost : estimate) {
            units.add(new long[cost.units().size()]);
        }
        for (Taken one : taken) {
            units.get(one.scope)[one.position] = one.owed(nowNs);
        }
        List<ScopeCost> owed = new ArrayList<>(estimate.size());
        for (int i = 0; i < estimate.size(); i++) {
            List<Long> all = new ArrayList<>();
            for (long one : units.get(i)) {
                all.add(one);
            }
            owed.add(new ScopeCost(estimate.get(i).scope(), all));
        }
        return owed;
    }
}
