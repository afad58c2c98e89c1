package io.sluice.provider;

import io.sluice.Answer;
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * An answer taken apart once, for all who read it.
 *
 * @param date the date the provider sent, or {@code null}
 * @param at the provider's own time where it sent a date, else ours: both ends of a wait are on one clock
 * @param json the body, or in a stream the event, that is read; missing if it is no JSON
 * @param prose the body where it is plain text, in lower case; empty for JSON and for a proxy's HTML
 * @param streamed whether {@code json} is an event of a stream
 */
record Heard(
        Answer answer,
        Headers headers,
        @Nullable Instant date,
        Instant at,
        JsonNode json,
        String prose,
        boolean streamed) {
    /** Of a refusal's body. */
    static final int MAX_REFUSAL = 64 * 1024;
    /** Of an answer's body, and of one event. */
    static final int MAX_ANSWER = 1024 * 1024;

    static Heard of(Answer answer) {
        Headers headers = new Headers(answer.headers());
        String body = bounded(answer);
        JsonNode json = Json.parse(body);
        Instant date = Moments.httpDate(headers.first("date"), answer.now());
        return new Heard(answer, headers, date, date == null ? answer.now() : date, json, prose(json, body), false);
    }

    /** The same answer, looking at one event of its stream; what comes after a refusal's status is its body. */
    Heard event(JsonNode event) {
        return new Heard(answer, headers, date, at, event, "", answer.status() < 400);
    }

    int status() {
        return answer.status();
    }

    boolean hasBody() {
        String body = answer.body();
        return body != null && !body.isBlank();
    }

    /** Whether the headers alone can tell what a refusal is about, beyond its status. */
    boolean decidable() {
        return status() != 429
                || headers.hasAny(
                        "retry-after",
                        "retry-after-ms",
                        "x-should-retry",
                        "anthropic-ratelimit-",
                        "anthropic-priority-",
                        "anthropic-fast-",
                        "x-ratelimit-",
                        "x-codex-",
                        "ratelimit");
    }

    private static String bounded(Answer answer) {
        String body = answer.body() == null ? "" : answer.body();
        int max = answer.status() >= 400 ? MAX_REFUSAL : MAX_ANSWER;
        return body.length() <= max ? body : body.substring(0, max);
    }

    private static String prose(JsonNode json, String body) {
        String text = body.strip();
        boolean words = json.isMissingNode() && !text.startsWith("<");
        return words
                ? text.toLowerCase(Locale.ROOT)
                : json.isString() ? json.asString().toLowerCase(Locale.ROOT) : "";
    }

    /** A member of an object by several names, the first there is; a missing node if none is. */
    static JsonNode any(JsonNode node, String... names) {
        JsonNode found = node.path(names[0]);
        for (int i = 1; i < names.length && (found.isMissingNode() || found.isNull()); i++) {
            found = node.path(names[i]);
        }
        return found;
    }

    static boolean is(@Nullable String word, String... words) {
        for (String one : words) {
            if (one.equalsIgnoreCase(word)) {
                return true;
            }
        }
        return false;
    }
}
