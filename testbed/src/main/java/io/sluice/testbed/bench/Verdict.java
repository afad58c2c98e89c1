package io.sluice.testbed.bench;

import java.util.Locale;

/** What a rule's ratio came to; the median is judged. */
record Verdict(Rule rule, Spread ratio) {

    boolean met() {
        return rule.holds(ratio.median(), rule.reach());
    }

    /** For example {@code met}, {@code met, short of the aim}, {@code missed by 12.5 %}: 0.45 where 0.4 is the most. */
    String words() {
        if (!met()) {
            return String.format(Locale.ROOT, "missed by %.1f %%", 100 * Math.abs(ratio.median() / rule.reach() - 1));
        }
        Double aim = rule.aim();
        return aim == null || rule.holds(ratio.median(), aim) ? "met" : "met, short of the aim";
    }
}
