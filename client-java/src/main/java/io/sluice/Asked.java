package io.sluice;

import org.jspecify.annotations.Nullable;

/**
 * What a request asks of a provider: everything {@link Call#of(Asked)} needs to know how much of the budget it will take.
 * Estimates, on the safe side and bounded; what was really used corrects them.
 *
 * <pre>{@code
 * Call call = Call.of(Anthropic.PROFILE.asks(request)).agent("a-17");
 * }</pre>
 *
 * @param kind whether it takes anything of the budget
 * @param why why it is no call, in a few words; empty for a call
 * @param model as the request names it, in its body or path; {@code null} if it names none of 1 to 256 characters
 * @param inputBytes the text the provider will read, in UTF-8: prompts, tool calls and results, declarations of tools. Of a body
 *     that cannot be read its size. 0 to {@link Call#MAX_TOKENS}
 * @param attachedTokens what comes beside the text, in tokens: a bounded amount for each attachment, and input that the request
 *     gives in tokens. 0 to {@link Call#MAX_TOKENS}
 * @param attachments how many pictures, documents, sounds and films it carries or points to
 * @param maxOutputTokens the most that the provider will let all its answers have together: the cap the request names, of several
 *     the largest, times {@code choices}. 0 to {@link Call#MAX_TOKENS}; {@code null} if it names none
 * @param choices how many answers it asks for, 1 or more
 * @param streamed whether it asks for a stream
 * @param tellsUsage whether a complete answer will tell what was used; a chat stream of some providers does only if asked, see
 *     {@code io.sluice.provider.StreamUsage}
 * @param serviceTier the tier it asks for, {@code null} if it names none
 * @param speed the speed it asks for, {@code null} if it names none
 * @param endpoint where it goes, in the words a policy's {@code when} has for endpoints: {@code messages}, {@code chat/completions},
 *     {@code completions}, {@code responses}, {@code embeddings}, {@code generateContent}, {@code interactions}, any other by the
 *     last part of its path; {@code null} if the path has none
 */
public record Asked(
        Kind kind,
        String why,
        @Nullable String model,
        long inputBytes,
        long attachedTokens,
        int attachments,
        @Nullable Long maxOutputTokens,
        int choices,
        boolean streamed,
        boolean tellsUsage,
        @Nullable String serviceTier,
        @Nullable String speed,
        @Nullable String endpoint) {

    /** Whether a request takes anything of the budget. */
    public enum Kind {
        /** It does: one request and tokens. */
        CALL,
        /** It uses no tokens: token counts, lists of models, probes, files, everything that only reads. */
        FREE,
        /** Nobody can say here: batches, which have budgets of their own, web sockets, what this version does not know. */
        OTHER
    }

    /** Brings every part into its range: what is none of a call's words was not said. */
    public Asked {
        model = model == null || model.isBlank() || model.length() > Call.MAX_MODEL ? null : model;
        serviceTier = name(serviceTier);
        speed = name(speed);
        endpoint = name(endpoint);
        inputBytes = bounded(inputBytes);
        attachedTokens = bounded(attachedTokens);
        maxOutputTokens = maxOutputTokens == null ? null : bounded(maxOutputTokens);
        choices = Math.max(1, choices);
    }

    private static @Nullable String name(@Nullable String word) {
        return word == null || !Names.isName(word) ? null : word;
    }

    private static long bounded(long amount) {
        return Math.max(0, Math.min(Call.MAX_TOKENS, amount));
    }
}
