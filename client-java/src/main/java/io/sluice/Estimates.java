package io.sluice;

import org.jspecify.annotations.Nullable;

/** What a call reserves before it is sent, and what it is charged after. */
final class Estimates {
    private Estimates() {}

    /** One request, the input as the caller estimates it, and output as the class reserves it. */
    static Permit.Reserved reserve(Call call, ModelClass modelClass) {
        long output = switch (modelClass.outputReserve()) {
            case NONE -> 0;
            // Nothing is learned yet: the maximum is the safe value.
            case LEARNED, MAX -> or(call.maxOutputTokens, modelClass.maxOutput());
        };
        return new Permit.Reserved(1, call.inputTokens, call.cacheReadTokens, call.cacheWriteTokens, output);
    }

    /** The usage, with the estimate standing for each part the provider did not tell. */
    static Permit.Reserved merge(Usage usage, Permit.Reserved estimate) {
        return new Permit.Reserved(
                estimate.requests(),
                or(usage.inputTokens(), estimate.input()),
                or(usage.cacheReadTokens(), estimate.cacheRead()),
                or(usage.cacheWriteTokens(), estimate.cacheWrite()),
                or(usage.outputTokens(), estimate.output()));
    }

    private static long or(@Nullable Long known, long otherwise) {
        return known == null ? otherwise : known;
    }
}
