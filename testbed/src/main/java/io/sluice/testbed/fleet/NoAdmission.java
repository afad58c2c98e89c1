package io.sluice.testbed.fleet;

import io.sluice.Usage;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** {@link Strategy#NONE}: everything may be sent at once. */
final class NoAdmission implements Admission {

    @Override
    public CompletableFuture<Ticket> admit(Work work) {
        return CompletableFuture.completedFuture(new Free(work));
    }

    @Override
    public Duration pause(int rejections, @Nullable Duration retryAfter) {
        return Backoff.pause(rejections, retryAfter, ThreadLocalRandom.current()::nextDouble);
    }

    @Override
    public void close() {}

    /** Nobody charges; told is what the provider would. */
    private record Free(Work work) implements Ticket {
        @Override
        public @Nullable String modelClass() {
            return null;
        }

        @Override
        public CompletionStage<Charge> settled(Usage usage) {
            return CompletableFuture.completedFuture(work.charge(usage));
        }

        @Override
        public CompletionStage<Charge> rejected(@Nullable Duration retryAfter) {
            return CompletableFuture.completedFuture(Charge.NOTHING);
        }

        @Override
        public CompletionStage<Charge> unsent() {
            return CompletableFuture.completedFuture(Charge.NOTHING);
        }
    }
}
