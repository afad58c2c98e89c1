package io.sluice;

import org.jspecify.annotations.Nullable;

/**
 * What a call really used, in LLM tokens. The four parts do not overlap: {@code inputTokens} is fresh input only, cache
 * reads and writes come on top.
 *
 * <p>A {@code null} part means the provider did not say: the estimate stands for it. Zero means zero.
 *
 * @param inputTokens fresh input, 0 or more
 * @param cacheReadTokens input read from the provider's cache, 0 or more
 * @param cacheWriteTokens input written to the provider's cache, 0 or more
 * @param outputTokens everything the model produced, thinking included, 0 or more
 */
public record Usage(
        @Nullable Long inputTokens,
        @Nullable Long cacheReadTokens,
        @Nullable Long cacheWriteTokens,
        @Nullable Long outputTokens) {

    /** Nothing is known: every part of the estimate stands. */
    public static final Usage UNKNOWN = new Usage(null, null, null, null);

    /** @throws IllegalArgumentException if a part is negative, naming it */
    public Usage {
        check("inputTokens", inputTokens);
        check("cacheReadTokens", cacheReadTokens);
        check("cacheWriteTokens", cacheWriteTokens);
        check("outputTokens", outputTokens);
    }

    /** All four parts are known. */
    public Usage(long inputTokens, long cacheReadTokens, long cacheWriteTokens, long outputTokens) {
        this(
                Long.valueOf(inputTokens),
                Long.valueOf(cacheReadTokens),
                Long.valueOf(cacheWriteTokens),
                Long.valueOf(outputTokens));
    }

    /** Its own parts, and the other's for those that are unknown. */
    Usage orElse(Usage other) {
        return new Usage(
                inputTokens == null ? other.inputTokens : inputTokens,
                cacheReadTokens == null ? other.cacheReadTokens : cacheReadTokens,
                cacheWriteTokens == null ? other.cacheWriteTokens : cacheWriteTokens,
                outputTokens == null ? other.outputTokens : outputTokens);
    }

    /** Whether a part is unknown, so that its estimate stands. */
    boolean isPartial() {
        return inputTokens == null || cacheReadTokens == null || cacheWriteTokens == null || outputTokens == null;
    }

    private static void check(String name, @Nullable Long tokens) {
        if (tokens != null) {
            Names.tokens(name, tokens);
        }
    }
}
