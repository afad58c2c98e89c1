package io.sluice.testbed.emulator;

import org.jspecify.annotations.Nullable;

/** What became of a call that arrived. */
sealed interface Decision {

    /** The number of the request, the same in its headers, body and log lines. */
    long id();

    /** Where the limits stand after it, as the provider tells it. */
    Standing standing();

    /**
     * It runs, and ends by {@link Enforcer#finish}, {@link Enforcer#fail} or {@link Enforcer#abort}.
     *
     * @param streamError how its stream will fail
     */
    record Accepted(
            Running running, Standing standing, @Nullable StreamError streamError) implements Decision {
        @Override
        public long id() {
            return running.id;
        }
    }

    /**
     * It was turned away.
     *
     * @param waitUs the wait it is told, in microseconds; 0 where none is
     */
    record Rejected(long id, Call call, Denial denial, long waitUs, Standing standing) implements Decision {
        Kind kind() {
            return denial.kind();
        }
    }

    /** A call in flight. Belongs to the {@link Enforcer}, which alone changes it. */
    final class Running {
        final long id;
        final Call call;
        final Pool pool;
        long produced;
        boolean ended;

        Running(long id, Call call, Pool pool) {
            this.id = id;
            this.call = call;
            this.pool = pool;
        }
    }
}
