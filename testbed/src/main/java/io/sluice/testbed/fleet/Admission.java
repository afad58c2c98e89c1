package io.sluice.testbed.fleet;

import io.sluice.Usage;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How a process asks before it sends: one implementation a {@link Strategy}. Thread-safe. */
interface Admission extends AutoCloseable {

    /**
     * Waits until the call may be sent.
     *
     * @throws InterruptedException the fleet stops; nothing is left behind
     * @throws NotAdmitted it will never be allowed, or not in time
     */
    Ticket admit(Work work) throws InterruptedException, NotAdmitted;

    /**
     * How long to wait before the call that was rejected {@code rejections} times asks again.
     *
     * @param retryAfter what the provider said, or {@code null}
     */
    Duration pause(int rejections, @Nullable Duration retryAfter);

    @Override
    void close();

    /** Leave to send one request; ends in exactly one of three ways. */
    interface Ticket {
        /** The provider answered. */
        void settled(Usage usage);

        /** The provider said no. */
        void rejected(@Nullable Duration retryAfter);

        /** Nothing was sent after all. */
        void unsent();
    }

    /** The call must be given up; the message says why in a few words. */
    final class NotAdmitted extends Exception {
        private static final long serialVersionUID = 1;

        NotAdmitted(String why, @Nullable Throwable cause) {
            super(why, cause);
        }
    }
}
