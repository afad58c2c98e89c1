package io.sluice;

import io.sluice.LimitSpec.ModelWeights;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the prices, and checks that a limit in money has one for every class it can meet.
 *
 * <p>Prices are in micro-dollars a token; as weights of a limit in dollars they are millionths of that. Example: at input
 * 3 and output 15, a call of 2,000 fresh input and 400 output tokens takes 2,000 × 0.000003 + 400 × 0.000015 = 0.012 of
 * the limit.
 */
final class PriceRules {
    private static final int MAX_PRICES = 500;
    private static final int MICRO = 6;
    private static final Section.Range PRICE = Section.Range.of("0", "1000000", 6);

    private PriceRules() {}

    /** The prices, the most specific pattern first. */
    static List<ModelWeights> read(Section root, Problems problems) {
        List<ModelWeights> priced = new ArrayList<>();
        Section prices = root.section("prices");
        if (prices == null) {
            return priced;
        }
        if (prices.keys().size() > MAX_PRICES) {
            problems.add(prices.node(), "must have at most " + MAX_PRICES + " entries");
            return priced;
        }
        for (String pattern : prices.keys()) {
            Section price = prices.section(pattern);
            if (!Glob.isValid(pattern)) {
                problems.add(prices.at(pattern), Glob.SHAPE);
            }
            if (price != null) {
                priced.add(new ModelWeights(new Glob(pattern), price(price)));
            }
        }
        return ModelWeights.mostSpecificFirst(priced);
    }

    /** What is not said of cached input costs as much as fresh input: never too little, but for a provider that adds to it. */
    private static WeightSpec price(Section price) {
        BigDecimal input = price.decimal("input", PRICE);
        BigDecimal cacheRead = price.decimal("cache_read", PRICE);
        BigDecimal cacheWrite = price.decimal("cache_write", PRICE);
        BigDecimal output = price.decimal("output", PRICE);
        price.missing("input", "must be there: micro-dollars a token");
        price.missing("output", "must be there: micro-dollars a token");
        price.done();
        return new WeightSpec(
                BigDecimal.ZERO,
                dollars(input, null),
                dollars(cacheRead, input),
                dollars(cacheWrite, input),
                dollars(output, null));
    }

    private static BigDecimal dollars(@Nullable BigDecimal micro, @Nullable BigDecimal otherwise) {
        BigDecimal stated = micro != null ? micro : otherwise != null ? otherwise : BigDecimal.ZERO;
        return stated.movePointLeft(MICRO);
    }

    /** Reports models that a limit in money can meet and no price matches: all of a pattern's, or, as a warning, some. */
    static void check(Policy.Spec policy, List<ModelWeights> prices, Problems problems, Problems warnings) {
        Map<Glob, Priced> known = new HashMap<>();
        for (ScopeSpec scope : policy.scopes()) {
            for (LimitSpec limit : scope.limits()) {
                for (ModelClass modelClass : policy.classes()) {
                    for (Glob model : limit.usd() && scope.covers(modelClass) ? modelClass.models() : List.<Glob>of()) {
                        Priced priced = known.computeIfAbsent(model, glob -> priced(glob, prices));
                        report(limit, model + " of class " + modelClass.name(), priced, problems, warnings);
                    }
                }
            }
        }
    }

    /** How many of a pattern's models have a price. */
    private enum Priced {
        ALL,
        SOME,
        NONE
    }

    private static Priced priced(Glob model, List<ModelWeights> prices) {
        if (prices.stream().anyMatch(price -> price.models().covers(model))) {
            return Priced.ALL;
        }
        return prices.stream().anyMatch(price -> price.models().overlaps(model)) ? Priced.SOME : Priced.NONE;
    }

    private static void report(LimitSpec limit, String models, Priced priced, Problems problems, Problems warnings) {
        if (priced == Priced.NONE) {
            problems.add(limit.at(), "needs a price for " + models);
        } else if (priced == Priced.SOME) {
            warnings.add(
                    limit.at(),
                    "the prices may not match every model of " + models
                            + "; a call of one without a price is refused as unpriced");
        }
    }
}
