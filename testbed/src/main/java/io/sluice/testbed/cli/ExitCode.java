package io.sluice.testbed.cli;

/** What {@code ./sluice} ends with. */
final class ExitCode {
    static final int GOOD = 0;
    /** It ran, and the answer is no: a verdict failed, a policy is invalid. */
    static final int VERDICT_FAILED = 1;
    /** It was asked for something it does not know, or that cannot be: no such option, no such project, a policy that a file owns. */
    static final int USAGE = 2;
    /** Something it needs is missing, does not answer, is broken, or does not let this caller in. */
    static final int ENVIRONMENT = 3;

    private ExitCode() {}
}
