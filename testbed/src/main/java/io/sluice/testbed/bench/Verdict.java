package io.sluice.testbed.bench;

/** What a rule's ratio came to; the median is judged. */
record Verdict(Rule rule, Spread ratio) {

    boolean met() {
        return rule.bound().holds(ratio.median());
    }

    String words() {
        return rule.bound().words(ratio.median());
    }
}
