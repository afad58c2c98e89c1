package io.sluice.testbed.fleet;

import io.sluice.Usage;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** How a process asks before it sends, where it sends, retries and settles by itself: all strategies but Sluice's own. */
interface Admission extends Caller {

    @Override
    default Errand errand(Work work, Surroundings around, BiConsumer<Errand, FleetEvent.Call> done) {
        return new Attempt(this, work, around, done);
    }

    /**
     * Completes when the call may be sent. Cancelling the future ends the wait; nothing is left behind.
     */
    CompletableFuture<Ticket> admit(Work work);

    /**
     * How long to wait before the call that was rejected {@code rejections} times asks again.
     *
     * @param retryAfter what the provider said, or {@code null}
     */
    Duration pause(int rejections, @Nullable Duration retryAfter);

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
}
