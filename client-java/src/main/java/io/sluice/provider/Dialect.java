package io.sluice.provider;

import io.sluice.Answer;
import io.sluice.AnswerStream;
import io.sluice.Asked;
import io.sluice.LimitReading;
import io.sluice.PlanWindow;
import io.sluice.Profile;
import io.sluice.Provider;
import io.sluice.Reading;
import io.sluice.Request;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A profile put together from what differs between providers.
 *
 * @param refusals the verdict of an answer or event, {@code null} if it is no refusal
 * @param usages a reader for one answer
 * @param limits what the headers say of limits
 * @param windows what they say of a subscription
 * @param documents what an answer of another endpoint says (a token count, configured limits); {@code null} if it is none
 * @param settled adds what the provider alone has to a complete usage
 * @param requestId the header that names the request
 */
record Dialect(
        Provider provider,
        Function<Heard, @Nullable Verdict> refusals,
        Function<Answer, UsageReader> usages,
        Limits limits,
        Windows windows,
        Function<JsonNode, @Nullable Map<String, Object>> documents,
        UnaryOperator<Tokens> settled,
        String requestId)
        implements Profile {

    /** Reads limits from headers; the instant is the provider's. */
    interface Limits {
        List<LimitReading> read(Headers headers, Instant at);
    }

    /** Reads a subscription's windows from headers. */
    interface Windows {
        List<PlanWindow> read(Headers headers, Instant at);
    }

    @Override
    public Asked asks(Request request) {
        return Requests.read(provider, request);
    }

    @Override
    public Reading read(Answer answer) {
        Heard heard = Heard.of(answer);
        Verdict verdict = verdict(heard);
        UsageReader usage = usages.apply(answer);
        usage.body(heard.json());
        boolean complete = verdict == null && usage.tokens().isWhole() && usage.isOver();
        Tokens tokens = complete ? settled.apply(usage.tokens()) : usage.tokens();
        return new Reading(
                verdict == null ? null : verdict.rejection(),
                tokens.usage(0),
                complete,
                0,
                limits.read(heard.headers(), heard.at()),
                windows.read(heard.headers(), heard.at()),
                heard.date(),
                explanation(heard, verdict, tokens, complete));
    }

    @Override
    public AnswerStream stream(Answer head) {
        return new Stream(this, head);
    }

    @Nullable
    Verdict verdict(Heard heard) {
        Verdict verdict = refusals.apply(heard);
        return verdict == null || heard.streamed() ? verdict : verdict.obeying(heard.headers());
    }

    private Map<String, Object> explanation(Heard heard, @Nullable Verdict verdict, Tokens tokens, boolean complete) {
        if (verdict != null) {
            boolean silent = heard.answer().body() == null && heard.headers().known() && !heard.decidable();
            return silent ? Explanation.headers(this, heard) : Explanation.refusal(heard, verdict);
        }
        Map<String, Object> document =
                heard.json().isObject() && tokens.isUnknown() ? documents.apply(heard.json()) : null;
        if (document != null) {
            return document;
        }
        return heard.hasBody() || !heard.headers().known()
                ? Explanation.usage(tokens, complete)
                : Explanation.headers(this, heard);
    }
}
