package io.sluice.testbed.chaos;

import java.util.ArrayList;
import java.util.List;

/** Which terms were in force when, by the provider's clock. */
final class Timeline {
    private record Step(long atMs, Terms terms) {}

    private final List<Step> steps = new ArrayList<>();

    Timeline(Terms first) {
        steps.add(new Step(Long.MIN_VALUE, first));
    }

    /** From then on; steps come in order. */
    void add(long atMs, Terms terms) {
        steps.add(new Step(atMs, terms));
    }

    /** Units that came in over an interval. */
    double refilled(Limit limit, long fromMs, long toMs) {
        double units = 0;
        for (int i = 0; i < steps.size(); i++) {
            long begins = Math.max(fromMs, steps.get(i).atMs);
            long ends = i + 1 == steps.size() ? toMs : Math.min(toMs, steps.get(i + 1).atMs);
            units += Math.max(0, ends - begins) / 1000.0 * steps.get(i).terms.perSecond(limit);
        }
        return units;
    }

    /** What is in force at an instant. */
    Terms at(long atMs) {
        Terms terms = steps.get(0).terms;
        for (Step step : steps) {
            terms = step.atMs <= atMs ? step.terms : terms;
        }
        return terms;
    }
}
