package io.sluice.testbed.fleet;

/**
 * A part of a fleet's calls: a team's, a priority's, a flow's.
 *
 * @param waits how long its calls waited, in the whole run
 * @param rejected how often the provider said no to them, in the whole run
 * @param granted calls that were let go while the run was judged
 * @param charge what those were charged
 * @param sharePercent their part of what the whole fleet was charged, by the charged share of the shared limits: a call
 *     counts as the largest part it took of a minute of any one rate limit. 1,000 tokens of 100,000 a minute and 1 request
 *     of 50 count 2 %
 * @param usePercent their part of the allowed budget of the limit that binds; 0 if nothing was judged
 */
public record Part(
        FleetReport.Waits waits, long rejected, long granted, Charge charge, double sharePercent, double usePercent) {}
