package io.sluice;

/**
 * One limit that refills, in the whole numbers the scripts count with; all below 2^53.
 *
 * <p>Costs are in 1/{@link Weights#unit()} of the limit's amount. A level is finer still, so that one tick's refill is
 * a whole number: level {@code L} means {@code L / factor} of cost.
 *
 * <p>Example: 60 requests a minute at headroom 0.9 and a burst of 5 s is rate 54, factor 60,000,000, tick 1 µs: each
 * µs adds 54, each request takes 60,000,000, the bucket holds 270,000,000 (4.5 requests).
 *
 * @param name the limit's name in the policy, unique in its scope
 * @param rate level units refilled each tick; 0 is closed
 * @param factor level units one unit of cost takes
 * @param tickUs the length of a tick in µs: 1 up to a period of 1 h, 1,000 up to a day, else 1,000,000
 * @param capacity the fullest level, in level units: the refill of one burst
 * @param ceiling the largest cost that can ever be admitted
 * @param spanUs the time over which the provider counts, in µs
 * @param spanAmount the cost the provider admits over that time, without headroom: the gate for calls above the burst
 * @param minute the cost of one minute of the limit, at least 1: usage is booked up to this or 4 × the estimate
 * @param weights what a call costs
 */
public record RefillLimit(
        String name,
        long rate,
        long factor,
        long tickUs,
        long capacity,
        long ceiling,
        long spanUs,
        long spanAmount,
        long minute,
        Weights weights) {

    RefillLimit withWeights(Weights other) {
        return new RefillLimit(name, rate, factor, tickUs, capacity, ceiling, spanUs, spanAmount, minute, other);
    }
}
