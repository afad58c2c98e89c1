package io.sluice.testbed.cli;

/** What {@code ./sluice} ends with. */
final class ExitCode {
    static final int GOOD = 0;
    /** It ran, and the answer is no: a verdict failed, a policy is invalid. */
    static final int VERDICT_FAILED = 1;
    /** It was asked for something it does not know. */
    static final int USAGE = 2;
    /** Something it needs is missing or does not answer. */
    static final int ENVIRONMENT = 3;

    private ExitCode() {}
}
