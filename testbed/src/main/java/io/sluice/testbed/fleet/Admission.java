package io.sluice.testbed.fleet;

import io.sluice.Usage;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** How a process asks before it sends: one implementation a {@link Strategy}. Thread-safe, and holds no thread. */
interface Admission extends AutoCloseable {

    /**
     * Completes when the call may be sent, or with {@link NotAdmitted} if it will never be allowed, or not in time.
     * Cancelling the future ends the wait; nothing is left behind.
     */
    CompletableFuture<Ticket> admit(Work work);

    /**
     * How long to wait before the call that was rejected {@code rejections} times asks again.
     *
     * @param retryAfter what the provider said, or {@code null}
     */
    Duration pause(int rejections, @Nullable Duration retryAfter);

    @Override
    void close();

    /** Leave to send one request; ends in exactly one of three ways, and says what it was charged then. */
    interface Ticket {
        /** The class whose limits it draws on, or {@code null} where the strategy knows none. */
        @Nullable
        String modelClass();

        /** The provider answered. */
        CompletionStage<Charge> settled(Usage usage);

        /** The provider said no. */
        CompletionStage<Charge> rejected(@Nullable Duration retryAfter);

        /** Nothing was sent after all. */
        CompletionStage<Charge> unsent();
    }

    /** The call must be given up; the message says why in a few words. */
    final class NotAdmitted extends Exception {
        private static final long serialVersionUID = 1;

        NotAdmitted(String why, @Nullable Throwable cause) {
            super(why, cause);
        }
    }
}
