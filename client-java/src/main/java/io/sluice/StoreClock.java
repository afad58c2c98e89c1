package io.sluice;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** What Redis's clock says now, by what it said last: for what is told of a call that started without it. */
final class StoreClock {
    /** What it says while it was never heard. */
    static final long UNHEARD = 1;

    private final LongSupplier nanoTime;
    private volatile @Nullable Heard heard;

    private record Heard(long us, long atNs) {}

    StoreClock(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    void heard(long us) {
        heard = new Heard(us, nanoTime.getAsLong());
    }

    /** In µs since 1970; {@link #UNHEARD} while it was never heard. */
    long nowUs() {
        Heard last = heard;
        return last == null ? UNHEARD : last.us + TimeUnit.NANOSECONDS.toMicros(nanoTime.getAsLong() - last.atNs);
    }
}
