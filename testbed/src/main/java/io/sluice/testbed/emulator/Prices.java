package io.sluice.testbed.emulator;

import java.math.BigDecimal;

/**
 * What tokens cost, the same for all models, in billionths of a dollar each.
 *
 * @param input a token of fresh input
 */
public record Prices(long input, long cacheRead, long cacheWrite, long output) {
    /** 3, 0.3, 3.75 and 15 dollars a million. */
    public static final Prices DEFAULT = new Prices(3_000, 300, 3_750, 15_000);

    static final String FREE_SUFFIX = ":free";

    private static final Prices FREE = new Prices(0, 0, 0, 0);
    private static final BigDecimal MOST = BigDecimal.valueOf(1_000);

    /**
     * Reads {@code input=3,cache-read=0.3,cache-write=3.75,output=15}, in dollars a million tokens; what is absent is as
     * in {@link #DEFAULT}.
     *
     * @throws IllegalArgumentException on an unknown name or a bad number, in one line
     */
    public static Prices parse(String text) {
        Settings settings = Settings.parse("prices", text);
        Prices prices = new Prices(
                price(settings, "input", DEFAULT.input),
                price(settings, "cache-read", DEFAULT.cacheRead),
                price(settings, "cache-write", DEFAULT.cacheWrite),
                price(settings, "output", DEFAULT.output));
        settings.end();
        return prices;
    }

    private static long price(Settings settings, String name, long otherwise) {
        return settings.decimal(name, BigDecimal.valueOf(otherwise, 3), MOST)
                .movePointRight(3)
                .longValue();
    }

    /** What a call costs: OpenRouter's free models nothing. */
    Prices of(Call call) {
        return call.model().endsWith(FREE_SUFFIX) ? FREE : this;
    }

    /** What the input of a call costs, in billionths of a dollar. */
    long input(Call call) {
        return call.input() * input + call.cacheRead() * cacheRead + call.cacheWrite() * cacheWrite;
    }

    /** What so much output costs, in billionths of a dollar. */
    long output(long tokens) {
        return tokens * output;
    }

    /** What the whole call costs, in dollars. */
    BigDecimal dollars(Call call) {
        return BigDecimal.valueOf(input(call) + output(call.output()), 9);
    }
}
