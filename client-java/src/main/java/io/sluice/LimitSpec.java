package io.sluice;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One limit as the policy states it, with the profile's defaults filled in.
 *
 * @param name its name, unique in its scope
 * @param amount how much it allows, and at most will: where the provider or trial and error sets the amount, what its numbers
 *     are made for; {@code null} only where the document is in error
 * @param window how it counts
 * @param period over what time; {@code null} for a month and for limits in flight
 * @param zone where a calendar window begins and ends; {@code null} for other windows
 * @param usd whether it counts dollars: then the prices are its weights, and a model without one has none
 * @param weights what a call costs
 * @param weightsFor what it costs for models that differ, the most specific pattern first
 * @param burst its own burst, or {@code null} for the policy's
 * @param headroom its own headroom, or {@code null} for the policy's
 * @param quantum its own quantum, or {@code null} for the policy's
 * @param adopt whether the provider's limit header sets the amount
 * @param adaptive how the amount is found by trying, or {@code null}
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
        @Nullable Adaptive adaptive,
        Node at) {

    /** What an adopted amount is made for where the policy names none: until a header says less, nearly no limit at all. */
    static final BigDecimal MOST_ADOPTED = BigDecimal.valueOf(10_000_000);

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
    record ModelWeights(Glob models, WeightSpec weights) {
        /** The order in which they are tried: the more of a pattern is fixed text, the earlier. */
        static List<ModelWeights> mostSpecificFirst(List<ModelWeights> entries) {
            return entries.stream()
                    .sorted(Comparator.comparingInt(entry -> -entry.models().literals()))
                    .toList();
        }
    }

    /** An amount that nobody knows: begun with {@code start}, raised while it goes well, cut when it does not. */
    record Adaptive(BigDecimal start, BigDecimal max) {
        /** How far it goes where the policy does not say. */
        static final BigDecimal USUAL_GROWTH = BigDecimal.valueOf(100);

        /** What part of {@code max} it begins with, in millionths. */
        long startPpm() {
            return start.movePointRight(6).divide(max, 0, RoundingMode.FLOOR).longValueExact();
        }
    }

    LimitSpec {
        weightsFor = List.copyOf(weightsFor);
    }

    /** The same limit counting money by these prices, if money is what it counts. */
    LimitSpec priced(List<ModelWeights> prices) {
        return usd ? with(amount, prices) : this;
    }

    /** The limit as it is at first: smaller than its numbers are made for where it has yet to be found. */
    LimitSpec atStart() {
        return adaptive == null ? this : with(adaptive.start(), weightsFor);
    }

    private LimitSpec with(@Nullable BigDecimal otherAmount, List<ModelWeights> otherWeights) {
        return new LimitSpec(
                name,
                otherAmount,
                window,
                period,
                zone,
                usd,
                weights,
                otherWeights,
                burst,
                headroom,
                quantum,
                adopt,
                adaptive,
                at);
    }

    /** What part of the amount is in force at first, in millionths. */
    long startPpm() {
        return adaptive == null ? 1_000_000 : adaptive.startPpm();
    }

    /** Whether it counts money and no price matches the model: nobody knows what the call would cost. */
    boolean isUnpriced(String model) {
        return usd && weightsFor.stream().noneMatch(price -> price.models().matches(model));
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
