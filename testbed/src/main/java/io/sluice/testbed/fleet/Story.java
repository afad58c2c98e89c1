package io.sluice.testbed.fleet;

import io.sluice.testbed.fleet.FleetEvent.Outcome;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What becomes of one call, as it is told in the end. */
final class Story {
    private final Work work;
    private final Surroundings around;
    private final long wantedNs = System.nanoTime();
    private long grantedNs;
    private boolean granted;
    private @Nullable String modelClass;
    private int rejections;
    private Charge charge = Charge.NOTHING;

    Story(Work work, Surroundings around) {
        this.work = work;
        this.around = around;
    }

    void granted(@Nullable String ofClass, long atNs) {
        granted = true;
        grantedNs = atNs;
        modelClass = ofClass;
    }

    /** That grant was worth nothing: the call waits on. */
    void waitsOn() {
        granted = false;
    }

    void rejected() {
        rejections++;
    }

    int rejections() {
        return rejections;
    }

    void charged(Charge more) {
        charge = charge.plus(more);
    }

    FleetEvent.Call end(Outcome outcome, @Nullable String why) {
        long nowNs = System.nanoTime();
        long untilNs = granted ? grantedNs : nowNs;
        return new FleetEvent.Call(
                work.agent(),
                work.team(),
                work.priority(),
                modelClass,
                work.size(),
                outcome,
                granted,
                around.sinceStartMs(wantedNs),
                TimeUnit.NANOSECONDS.toMillis(untilNs - wantedNs),
                granted ? TimeUnit.NANOSECONDS.toMillis(nowNs - grantedNs) : 0,
                rejections,
                charge,
                why);
    }
}
