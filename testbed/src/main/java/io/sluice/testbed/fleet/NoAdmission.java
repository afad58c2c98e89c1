package io.sluice.testbed.fleet;

import io.sluice.Usage;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** {@link Strategy#NONE}: everything may be sent at once. */
final class NoAdmission implements Admission {
    private static final Ticket FREE = new Ticket() {
        @Override
        public void settled(Usage usage) {}

        @Override
        public void rejected(@Nullable Duration retryAfter) {}

        @Override
        public void unsent() {}
    };

    @Override
    public Ticket admit(Work work) {
        return FREE;
    }

    @Override
    public Duration pause(int rejections, @Nullable Duration retryAfter) {
        return Backoff.pause(rejections, retryAfter, ThreadLocalRandom.current()::nextDouble);
    }

    @Override
    public void close() {}
}
