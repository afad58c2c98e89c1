package io.sluice;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One limit as the policy states it, with the profile's defaults filled in.
 *
 * @param name its name, unique in its scope
 * @param amount how much; {@code null} where it is adopted or found
 * @param window how it counts
 * @param period over what time; {@code null} for a month and for limits in flight
 * @param zone where a calendar window begins and ends; {@code null} for other windows
 * @param usd whether it counts money by the policy's prices, not by weights
 * @param weights what a call costs
 * @param weightsFor what it costs for models that differ, the most specific pattern first
 * @param burst its own burst, or {@code null} for the policy's
 * @param headroom its own headroom, or {@code null} for the policy's
 * @param quantum its own quantum, or {@code null} for the policy's
 * @param adopt whether the provider's limit header sets the amount
 * @param adaptive whether the amount is found by trying
 * @param at where it stands in the document
 */
record LimitSpec(
        String name,
        @Nullable BigDecimal amount,
        Window window,
        @Nullable Duration period,
        @Nullable ZoneId zone,
        boolean usd,
        WeightSpec weights,
        List<ModelWeights> weightsFor,
        @Nullable Duration burst,
        @Nullable BigDecimal headroom,
        @Nullable Duration quantum,
        boolean adopt,
        boolean adaptive,
        Node at) {

    /** How a limit counts. */
    enum Window {
        /** A bucket that refills all the time. */
        REFILL,
        /** From one boundary of the calendar to the next. */
        CALENDAR,
        /** The last period, at every instant. */
        ROLLING,
        /** What is there now: calls that run, or agents that were active lately. */
        IN_FLIGHT;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The weights for models of one pattern. */
    record ModelWeights(Glob models, WeightSpec weights) {}

    LimitSpec {
        weightsFor = List.copyOf(weightsFor);
    }

    /** The weights for a model. */
    WeightSpec weightsOf(String model) {
        return weightsFor.stream()
                .filter(entry -> entry.models().matches(model))
                .findFirst()
                .map(ModelWeights::weights)
                .orElse(weights);
    }

    /** Whether it counts the agents that were active lately, not calls. */
    boolean countsAgents() {
        return name.equals(LimitRules.AGENTS);
    }

    /** The most decimals among all weights that can apply: costs are counted in 1/10^decimals. */
    int decimals() {
        int most = weights.decimals();
        for (ModelWeights entry : weightsFor) {
            most = Math.max(most, entry.weights().decimals());
        }
        return most;
    }
}
