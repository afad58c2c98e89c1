package io.sluice;

/** What was admitted lately, in twelve slots and the present one: rounded up, as the scripts remember it. */
final class Gate {
    private static final int SLOTS = 12;

    private final long widthNs;
    private final double[] slots = new double[SLOTS + 1];

    /** The number of the present slot. */
    private long present;

    Gate(long widthNs, long nowNs) {
        this.widthNs = widthNs;
        this.present = Math.floorDiv(nowNs, widthNs);
    }

    void add(double units, long nowNs) {
        advance(nowNs);
        slots[at(present)] += units;
    }

    /** How long until no more than {@code most} is remembered; 0 = it is so now. */
    long waitNs(double most, long nowNs) {
        advance(nowNs);
        double left = 0;
        for (double slot : slots) {
            left += slot;
        }
        for (long slot = present - SLOTS; slot <= present; slot++) {
            if (left <= most) {
                // The slot before this one has left when this one is the oldest.
                return Math.max(0, (slot + SLOTS) * widthNs - nowNs);
            }
            left -= slots[at(slot)];
        }
        return Math.max(0, (present + SLOTS + 1) * widthNs - nowNs);
    }

    private void advance(long nowNs) {
        long now = Math.floorDiv(nowNs, widthNs);
        for (long gone = Math.max(present + 1, now - SLOTS); gone <= now; gone++) {
            slots[at(gone)] = 0;
        }
        present = Math.max(present, now);
    }

    private static int at(long slot) {
        return (int) Math.floorMod(slot, (long) SLOTS + 1);
    }
}
