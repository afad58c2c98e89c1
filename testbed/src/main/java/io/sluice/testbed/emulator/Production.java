package io.sluice.testbed.emulator;

import java.time.Duration;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/**
 * How an answer comes into being: its output in even slices, about one every 100 ms, the last of them when the call's
 * time is up. Goes on at its own pace however slowly the client reads.
 */
final class Production {
    private static final long SLICE_MS = 100;

    private Production() {}

    /**
     * Tokens of each slice; they add up to the call's output.
     *
     * @param most slices after which it stops
     * @param produced told of each slice the moment it is produced, before anything is sent
     */
    static Flux<Long> of(Call call, long most, Scheduler pace, Consumer<Long> produced) {
        if (most == 0) {
            return Flux.empty();
        }
        if (call.duration().isZero()) {
            return Flux.just(call.output()).doOnNext(produced);
        }
        long slices = slices(call);
        Duration step = call.duration().dividedBy(slices);
        return Flux.interval(step, step, pace)
                .take(Math.min(slices, most))
                .map(i -> slice(call.output(), i, slices))
                .doOnNext(produced)
                .onBackpressureBuffer();
    }

    static long slices(Call call) {
        long byTime = Math.max(1, call.duration().toMillis() / SLICE_MS);
        return Math.max(1, Math.min(byTime, call.output()));
    }

    /** What the slice with this number carries, so that all of them add up whatever the remainder. */
    static long slice(long output, long number, long slices) {
        return output * (number + 1) / slices - output * number / slices;
    }
}
