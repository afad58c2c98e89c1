package io.sluice.testbed.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** How long until a fleet was served as before: from a fault's end to the first second with 90 % of the usual number of calls. */
final class Recovery {
    private static final double AS_BEFORE = 0.9;
    private static final long STEP_MS = 100;

    private final List<Sent> sent;
    private final long stopMs;
    private final double usual;

    /** @param fromMs since when the fleet has been at work */
    Recovery(List<Sent> sent, List<Happening> happenings, long fromMs, long stopMs) {
        this.sent = sent;
        this.stopMs = stopMs;
        this.usual = usual(happenings, fromMs);
    }

    /** Calls a second where nothing was wrong: the median of whole seconds. */
    private double usual(List<Happening> happenings, long fromMs) {
        List<Long> seconds = new ArrayList<>();
        for (long at = fromMs; at + 1_000 <= stopMs; at += 1_000) {
            long second = at;
            if (happenings.stream().noneMatch(one -> one.fromMs() < second + 1_000 && second < one.toMs() + 2_000)) {
                seconds.add(count(second));
            }
        }
        seconds.sort(null);
        return seconds.isEmpty() ? 0 : seconds.get(seconds.size() / 2).doubleValue();
    }

    double usual() {
        return usual;
    }

    /** In ms; empty if the run ended first, or nothing is known to be usual. */
    OptionalDouble of(Happening one) {
        for (long at = one.toMs(); usual > 0 && at + 1_000 <= stopMs; at += STEP_MS) {
            if (count(at) >= AS_BEFORE * usual) {
                return OptionalDouble.of((double) (at - one.toMs()));
            }
        }
        return OptionalDouble.empty();
    }

    private long count(long fromMs) {
        return sent.stream()
                .filter(call -> call.atMs() >= fromMs && call.atMs() < fromMs + 1_000)
                .count();
    }
}
