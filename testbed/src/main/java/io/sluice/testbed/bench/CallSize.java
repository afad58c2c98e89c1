package io.sluice.testbed.bench;

/** The one call everybody takes and gives back, and limits so high that it is never refused. */
final class CallSize {
    static final long INPUT = 900;
    static final long OUTPUT_CAP = 500;
    static final long OUTPUT_USED = 250;

    static final long RPM = 100_000_000;
    static final long TPM = 10_000_000_000L;
    static final int CONCURRENCY = 100_000;

    private CallSize() {}
}
