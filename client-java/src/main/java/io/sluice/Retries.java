package io.sluice;

import java.time.Duration;

/** What becomes of a call after an attempt that was not served. Pure: time and chance come in. */
final class Retries {
    private Retries() {}

    /** What was tried so far. {@code most}: the most requests that one attempt took; the next is expected to take as many. */
    record Tally(int attempts, int requests, int most) {
        static final Tally NONE = new Tally(0, 0, 1);

        /** One attempt more, of that many requests. */
        Tally plus(int sent) {
            return new Tally(attempts + 1, requests + sent, Math.max(most, sent));
        }
    }

    /** What to do now. */
    sealed interface Next {
        /** Send it again after this pause. */
        record Again(Duration pause) implements Next {}

        /** Give it up, and why. */
        record Stop(String why) implements Next {}
    }

    /**
     * @param handedOn whether text of the answer went to a consumer
     * @param left of the call's time
     * @param chance 0 to 1
     */
    static Next next(
            Rejection rejection, boolean handedOn, Tally tally, CallOptions options, Duration left, double chance) {
        if (!rejection.retryable()) {
            return new Next.Stop("not sent again, that cannot help");
        }
        if (handedOn && !options.restartsStreams()) {
            return new Next.Stop("not sent again, for part of its answer was handed on already");
        }
        if (tally.requests() + tally.most() > options.maxAttempts()) {
            return new Next.Stop("given up after " + count(tally.requests()) + " of at most " + options.maxAttempts());
        }
        Duration pause = Backoff.pause(rejection.waitFor(), tally.attempts(), chance);
        if (pause.compareTo(left) > 0) {
            return new Next.Stop("to be sent again in " + WholeSeconds.of(pause) + " s, but it may take only "
                    + (left.isZero() ? 0 : WholeSeconds.of(left)) + " s longer");
        }
        return new Next.Again(pause);
    }

    private static String count(int requests) {
        return requests == 1 ? "1 request" : requests + " requests";
    }
}
