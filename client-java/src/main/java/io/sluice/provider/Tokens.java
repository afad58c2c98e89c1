package io.sluice.provider;

import io.sluice.Call;
import io.sluice.Usage;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an answer used, in our counting: fresh input, cache writes and cache reads do not overlap.
 *
 * @param tools input of tools on top of the prompt, which is charged as fresh input
 * @param input all of the prompt
 * @param output everything produced, thinking included
 * @param counted what the provider's input limit is charged
 * @param more what else there is to tell of it
 */
record Tokens(
        @Nullable Long fresh,
        @Nullable Long cacheWrite,
        @Nullable Long cacheRead,
        long tools,
        @Nullable Long input,
        @Nullable Long output,
        @Nullable Long counted,
        Map<String, Object> more) {
    static final Tokens UNKNOWN = new Tokens(null, null, null, 0, null, null, null, Map.of());

    /** Of a provider that tells the whole prompt, with the parts that were cached or written. */
    static Tokens ofPrompt(@Nullable Long prompt, long cacheWrite, long cacheRead, long tools, @Nullable Long output) {
        if (prompt == null) {
            return new Tokens(null, null, null, tools, null, output, null, new LinkedHashMap<>());
        }
        // A part can be told larger than the whole; then the whole is right.
        long read = Math.min(cacheRead, prompt);
        long write = Math.min(cacheWrite, prompt - read);
        return new Tokens(
                prompt - read - write, write, read, tools, prompt, output, prompt + tools, new LinkedHashMap<>());
    }

    /** Of a provider that tells the parts. */
    static Tokens ofParts(
            @Nullable Long fresh, long cacheWrite, long cacheRead, boolean readsCount, @Nullable Long output) {
        if (fresh == null) {
            return new Tokens(null, null, null, 0, null, output, null, new LinkedHashMap<>());
        }
        long counted = fresh + cacheWrite + (readsCount ? cacheRead : 0);
        return new Tokens(
                fresh,
                cacheWrite,
                cacheRead,
                0,
                fresh + cacheWrite + cacheRead,
                output,
                counted,
                new LinkedHashMap<>());
    }

    /** Adds a figure that is told, in the order of telling. */
    Tokens with(String name, @Nullable Object value) {
        if (value != null) {
            more.put(name, value);
        }
        return this;
    }

    boolean isUnknown() {
        return fresh == null && output == null;
    }

    boolean isWhole() {
        return fresh != null && output != null;
    }

    /** What to settle with; {@code seen} is the least that the output can have been. */
    Usage usage(long seen) {
        return new Usage(
                bounded(fresh == null ? null : fresh + tools),
                bounded(cacheRead),
                bounded(cacheWrite),
                bounded(output == null ? null : Math.max(output, seen)));
    }

    /** The same of a stream that was cut: it had as much output as came of it, also where the provider had not told any. */
    Usage cut(long seen) {
        Usage told = usage(seen);
        boolean silent = output == null && seen > 0;
        return silent
                ? new Usage(told.inputTokens(), told.cacheReadTokens(), told.cacheWriteTokens(), bounded(seen))
                : told;
    }

    /** What no call can have used was not said. */
    private static @Nullable Long bounded(@Nullable Long tokens) {
        return tokens == null || tokens > Call.MAX_TOKENS ? null : tokens;
    }
}
