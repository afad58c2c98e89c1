package io.sluice;

import java.time.Duration;

/** Hears what happens to calls that ask for permits. Called on a thread of the client; must not block. */
public interface WaitListener {

    /** A call asked. */
    default void started(String project, Call call) {}

    /**
     * A call cannot start yet. Told again when its limit or its place changes, or when the expected wait is no longer what
     * was told less the time that passed: off by more than a quarter, and by more than a second. A process looks after its
     * waiting calls in turn, 32 every 250 ms, so where thousands wait news may be a minute old.
     */
    default void waiting(Waiting waiting) {}

    /** A call got its permit after {@code waited}. */
    default void granted(String project, Call call, Duration waited) {}

    /** A call of {@link Project#call} was not served and is sent again after a pause. */
    default void retrying(Retrying retrying) {}

    /** A call was refused, timed out or was cancelled after {@code waited}. */
    default void gaveUp(String project, Call call, Duration waited, String why) {}

    /**
     * Why a call waits and how long it will.
     *
     * @param project the project
     * @param call the call
     * @param scope the scope of the limit it is short on, such as {@code c:sonnet}
     * @param limit the limit it is short on, such as {@code itpm}
     * @param position its place among the waiting calls of its team and priority, from 1
     * @param expected the expected wait
     * @param estimate whether {@code expected} is an estimate
     */
    record Waiting(
            String project, Call call, String scope, String limit, int position, Duration expected, boolean estimate) {
        /** One line for a log or a terminal: {@code waiting on acme-prod itpm, 7 in line, about 12 s}. */
        @Override
        public String toString() {
            return "waiting on " + project + " " + limit + ", " + position + " in line, " + (estimate ? "about " : "")
                    + WholeSeconds.of(expected) + " s";
        }
    }

    /**
     * Why a call is sent again and when.
     *
     * @param project the project
     * @param call the call
     * @param rejection what the provider said; of a connection that failed: server, this request
     * @param pause how long it waits before it is sent again
     * @param attempt which attempt was not served, from 1
     */
    record Retrying(String project, Call call, Rejection rejection, Duration pause, int attempt) {
        /** One line for a log or a terminal: {@code waiting on acme-prod, retrying in 12 s}. */
        @Override
        public String toString() {
            return "waiting on " + project + ", retrying in " + WholeSeconds.of(pause) + " s";
        }
    }
}
