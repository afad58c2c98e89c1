package io.sluice;

import org.jspecify.annotations.Nullable;

/** What a call reserves before it is sent, and what it is charged after. */
final class Estimates {
    /** Of text without anything learned: a token is three bytes or more. In millionths, rounded up. */
    static final long USUAL_TOKENS_PER_BYTE = 333_334;

    private static final long WHOLE = 1_000_000;

    /**
     * What calls like it use.
     *
     * @param output 95 of 100 answers have at most so many tokens; 0: nobody knows
     * @param tokensPerByte in millionths; 0: nobody knows
     * @param cachedShare of the input, in millionths
     */
    record Usual(long output, long tokensPerByte, long cachedShare) {
        static final Usual UNKNOWN = new Usual(0, 0, 0);
    }

    private Estimates() {}

    /** One request, the input as the caller estimates it or by its size, and output as the class reserves it. */
    static Permit.Reserved reserve(Call call, ModelClass modelClass, Usual usual) {
        long output = output(call, modelClass, usual);
        if (call.inputBytes == null) {
            long fresh = most(call.inputTokens + call.attachedTokens);
            return new Permit.Reserved(1, fresh, call.cacheReadTokens, call.cacheWriteTokens, output);
        }
        long text = tokens(call.inputBytes, usual.tokensPerByte > 0 ? usual.tokensPerByte : USUAL_TOKENS_PER_BYTE);
        // What is attached is cached like the text it stands in.
        long input = most(text + call.attachedTokens);
        long read = call.namesCache ? call.cacheReadTokens : input * usual.cachedShare / WHOLE;
        long fresh = Math.max(0, input - read - call.cacheWriteTokens);
        return new Permit.Reserved(1, fresh, read, call.cacheWriteTokens, output);
    }

    private static long output(Call call, ModelClass modelClass, Usual usual) {
        long assumed = most(modelClass.maxOutput() * (long) call.choices);
        long most = or(call.maxOutputTokens, assumed);
        return switch (modelClass.outputReserve()) {
            case NONE -> 0;
            case MAX -> most;
            // Before anything is known a cap that was set high to be safe would keep everybody else waiting.
            case LEARNED -> Math.min(most, usual.output > 0 ? usual.output : assumed);
        };
    }

    /** Rounded up. */
    static long tokens(long bytes, long tokensPerByte) {
        return most((bytes * Math.min(tokensPerByte, Call.MAX_TOKENS) + WHOLE - 1) / WHOLE);
    }

    private static long most(long tokens) {
        return Math.min(Call.MAX_TOKENS, tokens);
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

    /**
     * What an answer used that may not be all there: no less output than came of it, whatever was reserved, and no more than the
     * request allows. (Text of a few long words is more characters than its tokens times four.)
     */
    static Usage booked(Reading reading, Call call, long reserved) {
        Usage told = reading.usage();
        if (reading.usageComplete() || reading.outputSeen() == 0) {
            return told;
        }
        long output = Math.max(or(told.outputTokens(), reserved), reading.outputSeen());
        if (told.outputTokens() == null && output == reserved) {
            return told;
        }
        long most = or(call.maxOutputTokens, Call.MAX_TOKENS);
        return new Usage(
                told.inputTokens(),
                told.cacheReadTokens(),
                told.cacheWriteTokens(),
                Long.valueOf(Math.min(output, most)));
    }

    private static long or(@Nullable Long known, long otherwise) {
        return known == null ? otherwise : known;
    }
}
