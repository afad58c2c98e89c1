package io.sluice.testbed.chaos;

import io.sluice.testbed.fleet.LogEntry;

/** A rate of the run's budget: what the emulated provider allows a minute, and what a call takes of it. */
enum Limit {
    RPM(1_500),
    ITPM(4_000_000),
    OTPM(600_000);

    final long amount;

    Limit(long amount) {
        this.amount = amount;
    }

    /** From the call's last line in the log, where its output is known. */
    long cost(LogEntry last) {
        return switch (this) {
            case RPM -> 1;
            case ITPM -> last.input() + last.cacheWrite();
            case OTPM -> last.output();
        };
    }
}
