package io.sluice.testbed.fleet;

import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Waits that were too long, of all calls, also of those that were still waiting at the stop signal.
 *
 * @param boundMs a call that waited longer counts as starved
 * @param calls how many did
 * @param longestMs the longest wait; 0 if there were no calls
 * @param agent whose call that was
 */
public record Starvation(
        long boundMs,
        long calls,
        long longestMs,
        @Nullable String agent,
        @Nullable String team,
        @Nullable String priority) {

    static Starvation of(List<FleetEvent.Call> calls, long boundMs) {
        FleetEvent.Call longest = calls.stream()
                .max(Comparator.comparingLong(FleetEvent.Call::waitedMs))
                .orElse(null);
        return new Starvation(
                boundMs,
                calls.stream().filter(call -> call.waitedMs() > boundMs).count(),
                longest == null ? 0 : longest.waitedMs(),
                longest == null ? null : longest.agent(),
                longest == null ? null : longest.team(),
                longest == null ? null : longest.priority().label());
    }
}
