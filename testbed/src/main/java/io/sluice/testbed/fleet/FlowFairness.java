package io.sluice.testbed.fleet;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How fairly flows were served.
 *
 * @param jain Jain's index of charged share ÷ weight over the flows that were always backlogged, 1 is fair; {@code null}
 *     if fewer than two were
 * @param leastGranted the fewest grants of any of them while the run was judged: the fewer, the coarser the index
 * @param flows the flows it is taken over, such as {@code research batch}
 * @param leftOut those that were not always backlogged
 */
public record FlowFairness(@Nullable Double jain, long leastGranted, List<String> flows, List<String> leftOut) {
    /** An always backlogged flow had a call waiting in at least so much of the judged time. */
    static final double BACKLOGGED_PERCENT = 99;
}
