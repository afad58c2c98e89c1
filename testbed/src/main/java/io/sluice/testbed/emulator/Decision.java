package io.sluice.testbed.emulator;

/** What became of a call that arrived. */
sealed interface Decision {

    /** The number of the request, the same in its headers, body and log lines. */
    long id();

    /** Where the limits stand after it. */
    Standing standing();

    /** It runs, and ends by {@link Enforcer#finish} or {@link Enforcer#abort}. */
    record Accepted(Running running, Standing standing) implements Decision {
        @Override
        public long id() {
            return running.id;
        }
    }

    /**
     * It was turned away.
     *
     * @param limit the limit it ran into
     * @param waitUs until the same request would fit, in microseconds; 0 where nobody can know
     */
    record Rejected(long id, Call call, Kind kind, long limit, long waitUs, Standing standing) implements Decision {}

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
