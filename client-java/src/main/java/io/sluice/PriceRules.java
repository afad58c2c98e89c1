package io.sluice;

import java.util.ArrayList;
import java.util.List;

/** Reads the prices, and checks that a limit in money has one for every model it can meet. */
final class PriceRules {
    private static final int MAX_PRICES = 500;
    private static final Section.Range PRICE = Section.Range.of("0", "1000000", 6);

    private PriceRules() {}

    static void check(Section root, List<ScopeSpec> scopes, List<ModelClass> classes, Problems problems) {
        List<Glob> priced = prices(root, problems);
        for (ScopeSpec scope : scopes) {
            for (LimitSpec limit : scope.limits()) {
                for (ModelClass modelClass : classes) {
                    if (limit.usd() && scope.covers(modelClass)) {
                        checkPriced(limit, modelClass, priced, problems);
                    }
                }
            }
        }
    }

    private static void checkPriced(LimitSpec limit, ModelClass modelClass, List<Glob> priced, Problems problems) {
        for (Glob model : modelClass.models()) {
            if (priced.stream().noneMatch(price -> price.covers(model))) {
                problems.add(limit.at(), "needs a price for " + model + " of class " + modelClass.name());
            }
        }
    }

    private static List<Glob> prices(Section root, Problems problems) {
        List<Glob> priced = new ArrayList<>();
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
                for (String kind : List.of("input", "cache_read", "cache_write", "output")) {
                    price.decimal(kind, PRICE);
                }
                price.missing("input", "must be there: micro-dollars a token");
                price.missing("output", "must be there: micro-dollars a token");
                price.done();
                priced.add(new Glob(pattern));
            }
        }
        return priced;
    }
}
