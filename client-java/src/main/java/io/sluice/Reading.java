package io.sluice;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an answer means.
 *
 * @param rejection the refusal or failure, or {@code null} if it was neither
 * @param usage what to settle with; a part that the provider did not tell is {@code null}. Of a stream that was cut,
 *     output is what was told or {@code outputSeen}, whichever is more
 * @param usageComplete whether {@code usage} is the provider's last word
 * @param outputSeen the least number of output tokens that the text of a stream can have been: a quarter of its
 *     characters, or one a piece; 0 where nothing was streamed
 * @param limits what the headers say of limits, one entry a dimension
 * @param windows what the headers say of a subscription's windows
 * @param date the provider's clock when it answered, or {@code null} if it did not say
 * @param explanation all of it in words and numbers, for people and for {@code ./sluice classify}; unmodifiable
 */
public record Reading(
        @Nullable Rejection rejection,
        Usage usage,
        boolean usageComplete,
        long outputSeen,
        List<LimitReading> limits,
        List<PlanWindow> windows,
        @Nullable Instant date,
        Map<String, Object> explanation) {

    /** Keeps copies. */
    public Reading {
        limits = List.copyOf(limits);
        windows = List.copyOf(windows);
        explanation = Collections.unmodifiableMap(new LinkedHashMap<>(explanation));
    }
}
