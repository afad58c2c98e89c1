package io.sluice.testbed.fleet;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How fairly flows were served in the contended time: the judged time less the policy's burst, for at its beginning full
 * buckets serve everybody without a line.
 *
 * @param seconds the contended time
 * @param jain Jain's index of charged share ÷ weight over the flows that were always backlogged, 1 is fair; {@code null}
 *     if fewer than two were
 * @param leastGranted the fewest grants of any of them: the fewer, the coarser the index
 * @param flows the flows it is taken over, such as {@code research batch}
 * @param leftOut those that were not always backlogged
 */
public record FlowFairness(
        double seconds, @Nullable Double jain, long leastGranted, List<String> flows, List<String> leftOut) {
    /** An always backlogged flow had a call waiting in at least so much of the contended time. */
    static final double BACKLOGGED_PERCENT = 99;
}
