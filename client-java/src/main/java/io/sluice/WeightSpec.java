package io.sluice;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The weights of a limit as a policy or a profile states them: decimals, 0 or more, in units of the amount. */
record WeightSpec(
        BigDecimal requests, BigDecimal input, BigDecimal cacheRead, BigDecimal cacheWrite, BigDecimal output) {
    private static final BigDecimal ZERO = BigDecimal.ZERO;
    private static final BigDecimal ONE = BigDecimal.ONE;

    static final WeightSpec NONE = new WeightSpec(ZERO, ZERO, ZERO, ZERO, ZERO);
    static final WeightSpec REQUESTS = new WeightSpec(ONE, ZERO, ZERO, ZERO, ZERO);
    static final WeightSpec ALL_TOKENS = new WeightSpec(ZERO, ONE, ONE, ONE, ONE);
    static final WeightSpec ALL_INPUT = new WeightSpec(ZERO, ONE, ONE, ONE, ZERO);
    static final WeightSpec UNCACHED_INPUT = new WeightSpec(ZERO, ONE, ZERO, ONE, ZERO);
    static final WeightSpec OUTPUT = new WeightSpec(ZERO, ZERO, ZERO, ZERO, ONE);

    /** Weights as written in a policy; what was left out keeps the weight it had. */
    record Change(
            @Nullable BigDecimal requests,
            @Nullable BigDecimal input,
            @Nullable BigDecimal cacheRead,
            @Nullable BigDecimal cacheWrite,
            @Nullable BigDecimal output) {}

    WeightSpec with(Change change) {
        return new WeightSpec(
                or(change.requests, requests),
                or(change.input, input),
                or(change.cacheRead, cacheRead),
                or(change.cacheWrite, cacheWrite),
                or(change.output, output));
    }

    /** The most decimals any weight has. */
    int decimals() {
        return Stream.of(requests, input, cacheRead, cacheWrite, output)
                .mapToInt(weight -> Math.max(0, weight.stripTrailingZeros().scale()))
                .max()
                .orElse(0);
    }

    boolean isZero() {
        return equals(NONE)
                || Stream.of(requests, input, cacheRead, cacheWrite, output).allMatch(weight -> weight.signum() == 0);
    }

    /** The same weights as whole numbers of 1/{@code 10^decimals}. */
    Weights scaled(int decimals) {
        return new Weights(
                ONE.movePointRight(decimals).longValueExact(),
                requests.movePointRight(decimals).longValueExact(),
                input.movePointRight(decimals).longValueExact(),
                cacheRead.movePointRight(decimals).longValueExact(),
                cacheWrite.movePointRight(decimals).longValueExact(),
                output.movePointRight(decimals).longValueExact());
    }

    /** Of weights in dollars: what that much costs, in millionths, rounded to the nearest. */
    long microUsd(Permit.Reserved used) {
        return requests.multiply(BigDecimal.valueOf(used.requests()))
                .add(input.multiply(BigDecimal.valueOf(used.input())))
                .add(cacheRead.multiply(BigDecimal.valueOf(used.cacheRead())))
                .add(cacheWrite.multiply(BigDecimal.valueOf(used.cacheWrite())))
                .add(output.multiply(BigDecimal.valueOf(used.output())))
                .movePointRight(6)
                .setScale(0, RoundingMode.HALF_UP)
                .min(BigDecimal.valueOf(Weights.MAX_EXACT))
                .longValueExact();
    }

    private static BigDecimal or(@Nullable BigDecimal changed, BigDecimal kept) {
        return changed == null ? kept : changed;
    }
}
