package io.sluice.testbed.chaos;

/**
 * An incident as it came about, by the provider's clock.
 *
 * @param fromMs when it began
 * @param toMs when the fault itself was over, and recovery could begin
 * @param outMs since when no host reached Redis, until {@code toMs}; -1 if that was not so
 * @param host who was hit, by its name in Redis; empty where it was not one
 * @param stillHeld slots that a killed host held a lease and a second later; -1 where that was not asked
 */
record Happening(Incident incident, long fromMs, long toMs, long outMs, String host, int stillHeld) {

    Kind kind() {
        return incident.kind();
    }

    boolean isOutage() {
        return outMs >= 0;
    }

    /** How long no host reached Redis. */
    long outageMs() {
        return isOutage() ? toMs - outMs : 0;
    }

    Happening stillHeld(int slots) {
        return new Happening(incident, fromMs, toMs, outMs, host, slots);
    }
}
