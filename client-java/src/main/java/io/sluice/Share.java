package io.sluice;

/**
 * This host's part of a budget while Redis is out: 0.8 of each limit by the hosts that were seen last. Rates are parted evenly;
 * slots in whole numbers, what remains one each to the first hosts in the order of their ids.
 *
 * <p>Example: 3 hosts and 64 slots: 51 are used without Redis, 17 a host. 4 hosts and 10 slots: 8, two a host. 3 hosts and 5
 * slots: 4, so two for the first host and one for each of the others.
 *
 * @param hosts how many there are, this one included; 0: nobody knows, and nothing is this host's
 * @param rank how many of their ids come before its own
 */
record Share(long hosts, long rank) {
    /** What a host may use that never saw the count, or long ago. */
    static final Share NONE = new Share(0, 0);

    /** Of what belongs to one host anyway, such as the limits of an agent. */
    static final Share ALONE = new Share(1, 0);

    private static final long SAFE = 4;
    private static final long OF = 5;

    /** Of an amount. */
    double part() {
        return hosts == 0 ? 0 : SAFE / (double) (OF * hosts);
    }

    /** Of calls in flight. */
    long slots(long all) {
        if (hosts == 0) {
            return 0;
        }
        long safe = all / OF * SAFE + all % OF * SAFE / OF;
        return safe / hosts + (rank < safe % hosts ? 1 : 0);
    }
}
