package io.sluice;

import io.sluice.LimitSpec.ModelWeights;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads what a limit counts: {@code of}, {@code weights} and {@code weights_for}. */
final class WeightRules {
    private static final int MAX_MODELS = 64;
    private static final Section.Range WEIGHT = Section.Range.of("0", "1000000", 4);

    private final Problems problems;

    WeightRules(Problems problems) {
        this.problems = problems;
    }

    /** The weights of a limit of one's own, which must say what it counts; {@code null} if it does not. */
    @Nullable
    WeightSpec own(Section limit) {
        String of = limit.choice("of", new String[] {"requests", "tokens", "usd"}, text -> text);
        Node stated = limit.get("of");
        if (stated != null && limit.get("weights") != null) {
            problems.add(stated, "says the same as weights: give one of them");
        }
        if (stated == null && limit.get("weights") == null) {
            return null;
        }
        if ("requests".equals(of)) {
            return WeightSpec.REQUESTS;
        }
        return changed("tokens".equals(of) ? WeightSpec.ALL_TOKENS : WeightSpec.NONE, limit);
    }

    /** The weights with what {@code weights} says in place of them. */
    WeightSpec changed(WeightSpec base, Section limit) {
        int before = problems.size();
        Section section = limit.section("weights");
        if (section == null) {
            return base;
        }
        WeightSpec changed = base.with(change(section));
        if (changed.isZero() && problems.size() == before) {
            problems.add(section.node(), "must have a weight above 0, or the limit counts nothing");
        }
        return changed;
    }

    /** The weights of models that differ, the most specific pattern first: the order of JSON keys means nothing. */
    List<ModelWeights> byModel(WeightSpec base, Section limit) {
        List<ModelWeights> found = new ArrayList<>();
        Section section = limit.section("weights_for");
        if (section == null) {
            return found;
        }
        if (section.keys().size() > MAX_MODELS) {
            problems.add(section.node(), "must have at most " + MAX_MODELS + " entries");
            return found;
        }
        for (String pattern : section.keys()) {
            Section weights = section.section(pattern);
            if (!Glob.isValid(pattern)) {
                problems.add(section.at(pattern), Glob.SHAPE);
            } else if (weights != null) {
                found.add(new ModelWeights(new Glob(pattern), base.with(change(weights))));
            }
        }
        return ModelWeights.mostSpecificFirst(found);
    }

    private static WeightSpec.Change change(Section weights) {
        WeightSpec.Change change = new WeightSpec.Change(
                weights.decimal("requests", WEIGHT),
                weights.decimal("input", WEIGHT),
                weights.decimal("cache_read", WEIGHT),
                weights.decimal("cache_write", WEIGHT),
                weights.decimal("output", WEIGHT));
        weights.done();
        return change;
    }
}
