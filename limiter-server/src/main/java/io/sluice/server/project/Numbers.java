package io.sluice.server.project;

import java.math.BigDecimal;
import java.math.RoundingMode;

/** Units as people write them: 4000, not 4000.0. Pure. */
final class Numbers {
    private static final int DECIMALS = 6;

    private Numbers() {}

    /** With at most six decimals, and none that are zero. */
    static BigDecimal plain(double value) {
        BigDecimal rounded = BigDecimal.valueOf(value)
                .setScale(DECIMALS, RoundingMode.HALF_EVEN)
                .stripTrailingZeros();
        return rounded.scale() < 0 ? rounded.setScale(0) : rounded;
    }
}
