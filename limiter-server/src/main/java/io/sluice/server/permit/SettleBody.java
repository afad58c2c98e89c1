package io.sluice.server.permit;

import io.sluice.Answer;
import io.sluice.Desk.Report;
import io.sluice.Usage;
import io.sluice.server.problem.Problem;
import io.sluice.server.security.Caller;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an agent reports of its call; all of it may be left out, then the estimate stands.
 *
 * @param usage what was used, by the caller's word
 * @param status of the provider's answer
 * @param headers of it: at most 100, each a text or a list of texts
 * @param body of it as text: at most 64 KiB
 */
record SettleBody(
        @Nullable UsageBody usage,
        @Nullable Integer status,
        @Nullable Map<String, Object> headers,
        @Nullable String body) {
    private static final int MOST_HEADERS = 100;
    private static final int LONGEST_HEADER = 8 * 1024;
    private static final int LONGEST_BODY = 64 * 1024;

    static final SettleBody EMPTY = new SettleBody(null, null, null, null);

    /**
     * The report, in the name of its caller.
     *
     * @throws Problem 400 naming the member that is wrong
     */
    Report report(Caller caller, Instant now) {
        return new Report(
                caller.name(), usage == null ? UsageBody.NOTHING : usage.usage(), answer(now), caller.mayReport());
    }

    private @Nullable Answer answer(Instant now) {
        if (status == null && headers == null && body == null) {
            return null;
        }
        if (status != null && (status < 100 || status > 599)) {
            throw Problem.invalid("/status", "must be 100 to 599");
        }
        if (body != null && body.getBytes(StandardCharsets.UTF_8).length > LONGEST_BODY) {
            throw Problem.invalid("/body", "may have 64 KiB");
        }
        Answer answer = Answer.of(status == null ? 200 : status, now);
        answer = headers == null ? answer : answer.headers(texts(headers));
        return body == null ? answer : answer.body(body);
    }

    private static Map<String, List<String>> texts(Map<String, Object> headers) {
        if (headers.size() > MOST_HEADERS) {
            throw Problem.invalid("/headers", "may have " + MOST_HEADERS + " members");
        }
        Map<String, List<String>> texts = new HashMap<>();
        headers.forEach((name, value) -> {
            List<String> all = new ArrayList<>();
            for (Object one : value instanceof List<?> list ? list : List.of(value == null ? "" : value)) {
                if (!(one instanceof String text) || text.length() > LONGEST_HEADER) {
                    throw Problem.invalid("/headers", "each must be a text or a list of texts, of 8 KiB at most");
                }
                all.add(text);
            }
            if (all.size() > MOST_HEADERS) {
                throw Problem.invalid("/headers", "may have " + MOST_HEADERS + " members");
            }
            texts.put(name, all);
        });
        return texts;
    }

    /** A member that is absent or null: the estimate stands. */
    record UsageBody(
            @Nullable Long inputTokens,
            @Nullable Long cacheReadTokens,
            @Nullable Long cacheWriteTokens,
            @Nullable Long outputTokens) {
        static final Usage NOTHING = new Usage((Long) null, null, null, null);

        Usage usage() {
            return Building.checked(
                    "/usage",
                    this,
                    told -> new Usage(
                            told.inputTokens, told.cacheReadTokens, told.cacheWriteTokens, told.outputTokens));
        }
    }
}
