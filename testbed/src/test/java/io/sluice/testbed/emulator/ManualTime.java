package io.sluice.testbed.emulator;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that moves when told. Starts on a whole minute, so quantised windows start with it. */
final class ManualTime implements InstantSource {
    private Instant now = Instant.parse("2026-08-24T12:00:00Z");

    @Override
    public synchronized Instant instant() {
        return now;
    }

    synchronized void advance(Duration by) {
        now = now.plus(by);
    }
}
