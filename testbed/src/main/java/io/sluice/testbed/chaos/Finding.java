package io.sluice.testbed.chaos;

/**
 * What was measured, and what it may be.
 *
 * @param law which of the laws in docs/architecture.md it is about; empty for a number to reach
 * @param atMost whether it may be at most {@code bound}, or at least
 * @param beside what else there is to say; may be empty
 */
record Finding(String law, String what, double measured, boolean atMost, double bound, String beside) {

    static Finding atMost(String law, String what, double measured, double bound, String beside) {
        return new Finding(law, what, measured, true, bound, beside);
    }

    static Finding atLeast(String what, double measured, double bound, String beside) {
        return new Finding("", what, measured, false, bound, beside);
    }

    boolean met() {
        return atMost ? measured <= bound : measured >= bound;
    }
}
