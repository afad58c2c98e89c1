package io.sluice.testbed.emulator;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Why a call is turned away. */
sealed interface Denial {

    Kind kind();

    /** Until the same request would pass, in microseconds; 0 where nobody can know. */
    long waitUs();

    /**
     * A limit that is counted by time.
     *
     * @param remaining whole units that were left
     * @param requested what the call would have taken; 0 for output, which is not known beforehand
     */
    record Rate(Kind kind, long limit, long remaining, long requested, long waitUs) implements Denial {}

    /** All calls in flight that are allowed are in flight. */
    record Slots(long limit) implements Denial {
        @Override
        public Kind kind() {
            return Kind.CONCURRENCY;
        }

        @Override
        public long waitUs() {
            return 0;
        }
    }

    /**
     * Use rose too fast.
     *
     * @param limit what is allowed now, a minute
     * @param next what will be allowed from the next step on, a minute
     */
    record Steep(Acceleration.Of of, long limit, long next, long waitUs) implements Denial {
        @Override
        public Kind kind() {
            return Kind.ACCELERATION;
        }
    }

    /**
     * The money is gone.
     *
     * @param until when there is some again; {@code null}: when somebody buys some
     */
    record NoMoney(Spend.As as, @Nullable Instant until, long waitUs) implements Denial {
        @Override
        public Kind kind() {
            return as == Spend.As.CREDITS ? Kind.CREDITS : Kind.SPEND;
        }
    }

    /** A window of the plan is used up. */
    record PlanUsedUp(PlanWindows.Seen seen, long waitUs) implements Denial {
        @Override
        public Kind kind() {
            return Kind.PLAN_WINDOW;
        }
    }

    /**
     * Too much load, or a fault, on the provider's side.
     *
     * @param status {@code null} is what the provider sends most
     */
    record Busy(@Nullable Integer status, @Nullable Duration retryAfter) implements Denial {
        @Override
        public Kind kind() {
            boolean fault = status != null && (status == 500 || status == 502 || status == 504);
            return fault ? Kind.SERVER : Kind.OVERLOAD;
        }

        @Override
        public long waitUs() {
            return retryAfter == null ? 0 : retryAfter.toNanos() / 1_000;
        }
    }
}
