package io.sluice;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Hears what happens to calls that ask for permits. Called on a thread of the client; must not block. */
public interface WaitListener {

    /** A call asked. */
    default void started(String project, Call call) {}

    /** A call cannot start yet. Told again when the reason or the wait changes. */
    default void waiting(Waiting waiting) {}

    /** A call got its permit after {@code waited}. */
    default void granted(String project, Call call, Duration waited) {}

    /** A call was refused, timed out or was cancelled after {@code waited}. */
    default void gaveUp(String project, Call call, Duration waited, String why) {}

    /**
     * Why a call waits and how long it will.
     *
     * @param project the project
     * @param call the call
     * @param scope the scope of the limit it is short on, such as {@code c:sonnet}
     * @param limit the limit it is short on, such as {@code itpm}
     * @param position its place in line from 1, or {@code null} where it is not known
     * @param expected the expected wait
     * @param estimate whether {@code expected} is an estimate
     */
    record Waiting(
            String project,
            Call call,
            String scope,
            String limit,
            @Nullable Integer position,
            Duration expected,
            boolean estimate) {
        /** One line for a log or a terminal: {@code waiting on acme-prod itpm, about 12 s}. */
        @Override
        public String toString() {
            String place = position == null ? "" : position + " in line, ";
            String seconds = String.valueOf(Math.max(1, (expected.toMillis() + 999) / 1000));
            return "waiting on " + project + " " + limit + ", " + place + (estimate ? "about " : "") + seconds + " s";
        }
    }
}
