package io.sluice.testbed.fleet;

import org.jspecify.annotations.Nullable;

/**
 * One line of the target's {@code GET /_log}: what the provider decided.
 *
 * @param seq counts the lines, from 1
 * @param tMs ms since the target started
 * @param event {@code accepted}, {@code rejected}, {@code finished} or {@code aborted}
 * @param id the request's number, the same in all its lines
 * @param kind what a rejection was about, such as {@code input}; {@code null} otherwise
 * @param input fresh input in tokens
 * @param charged what the call takes of {@code tpm} when it begins
 * @param output tokens produced by the end; 0 before
 * @param inFlight calls that run with it or after it, of the same pool
 */
public record LogEntry(
        long seq,
        long tMs,
        String event,
        String id,
        String agent,
        @Nullable String kind,
        long input,
        long cacheRead,
        long cacheWrite,
        long charged,
        long output,
        int inFlight) {
    public boolean is(String what) {
        return event.equals(what);
    }
}
