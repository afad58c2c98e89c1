package io.sluice.testbed.emulator;

import java.time.ZoneId;
import java.util.List;

/**
 * What a provider counts and keeps, apart from how it says so.
 *
 * @param day where its day begins at midnight
 * @param dayRefills whether limits a day refill all the time instead of starting over
 * @param outputAsTokens whether {@code tpm} and {@code tpd} count output as it is produced
 * @param countsRejected whether a rejected request takes one of {@code rpm}, while one is left
 * @param spends how its money may run out, the most usual first
 * @param hasPlans whether there are subscriptions
 */
record Rules(
        ZoneId day,
        boolean dayRefills,
        boolean outputAsTokens,
        boolean countsRejected,
        List<Spend.As> spends,
        boolean hasPlans) {

    /** @throws IllegalArgumentException if the provider never does such a thing, in one line */
    void check(String provider, Behaviour behaviour) {
        if (behaviour.plan != null && !hasPlans) {
            throw new IllegalArgumentException(provider + " has no plan windows");
        }
        Spend.As as = behaviour.spend.as();
        if (as != null && !spends.contains(as)) {
            throw new IllegalArgumentException("spend: " + provider + " has no " + Settings.word(as) + ": it has "
                    + String.join(", ", spends.stream().map(Settings::word).toList()));
        }
    }

    Spend.As spendAs(Spend spend) {
        return spend.as() == null ? spends.get(0) : spend.as();
    }
}
