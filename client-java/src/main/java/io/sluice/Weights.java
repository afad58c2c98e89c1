package io.sluice;

/**
 * What one call costs on one limit: a weight for each thing a call uses, as whole numbers of 1/{@code unit}.
 *
 * <p>Example: input 1, cache reads 0.25 and output 4 are {@code Weights(100, 0, 100, 25, 0, 400)}; 2,000 fresh input,
 * 16,000 cached and 400 output tokens cost 760,000, that is 7,600 units of the limit.
 *
 * @param unit how many parts one unit of the limit's amount has: a power of ten, 1 where every weight is whole
 * @param requests for the call itself
 * @param input for each token of fresh input
 * @param cacheRead for each token read from the provider's cache
 * @param cacheWrite for each token written to the provider's cache
 * @param output for each token of output
 */
public record Weights(long unit, long requests, long input, long cacheRead, long cacheWrite, long output) {

    /** The largest whole number a double, Lua's only number, holds exactly together with its neighbours: 2^53 - 1. */
    public static final long MAX_EXACT = (1L << 53) - 1;

    /** The cost of these quantities in 1/{@code unit}, at most {@link #MAX_EXACT}. */
    public long cost(Permit.Reserved used) {
        long cost = times(requests, used.requests());
        cost = plus(cost, times(input, used.input()));
        cost = plus(cost, times(cacheRead, used.cacheRead()));
        cost = plus(cost, times(cacheWrite, used.cacheWrite()));
        return plus(cost, times(output, used.output()));
    }

    private static long times(long weight, long quantity) {
        return weight != 0 && quantity > MAX_EXACT / weight ? MAX_EXACT : weight * quantity;
    }

    private static long plus(long a, long b) {
        return Math.min(MAX_EXACT, a + b);
    }
}
