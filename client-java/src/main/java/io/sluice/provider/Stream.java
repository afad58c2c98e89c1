package io.sluice.provider;

import io.sluice.Answer;
import io.sluice.AnswerStream;
import io.sluice.Reading;
import io.sluice.Usage;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** One streamed answer. HTTP 200 is not success: the first error inside decides, and what was used before it counts. */
final class Stream implements AnswerStream {
    private final Dialect dialect;
    private final Heard head;
    private final UsageReader usage;
    private final Events events = new Events(Heard.MAX_ANSWER, this::event);
    private @Nullable Heard refusal;
    private @Nullable Verdict verdict;

    Stream(Dialect dialect, Answer head) {
        this.dialect = dialect;
        this.head = Heard.of(head.body(""));
        this.usage = dialect.usages().apply(head);
    }

    @Override
    public void feed(byte[] bytes, int offset, int length) {
        events.feed(bytes, offset, length);
    }

    @Override
    public Reading end() {
        events.end();
        if (verdict == null && head.status() >= 400) {
            look(MissingNode.getInstance());
        }
        boolean complete = verdict == null && usage.isOver() && usage.tokens().isWhole();
        long seen = usage.relayed().tokens();
        Tokens tokens = complete ? dialect.settled().apply(usage.tokens()) : usage.tokens();
        return new Reading(
                verdict == null ? null : verdict.rejection(),
                usage(tokens, complete, seen),
                complete,
                seen,
                dialect.limits().read(head.headers(), head.at()),
                dialect.windows().read(head.headers(), head.at()),
                head.date(),
                explanation(tokens, complete));
    }

    /** What ran to its end without telling its usage may have thought far more than it said: then the estimate stands. */
    private Usage usage(Tokens tokens, boolean complete, long seen) {
        return usage.isOver() ? tokens.usage(complete ? 0 : seen) : tokens.cut(seen);
    }

    private void event(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        if (text.strip().equals("[DONE]")) {
            usage.done();
            return;
        }
        JsonNode json = Json.parse(text);
        if (json.isObject() || json.isArray()) {
            look(json);
            usage.event(json);
        }
    }

    private void look(JsonNode json) {
        if (verdict == null) {
            Heard heard = head.event(json);
            verdict = dialect.verdict(heard);
            refusal = heard;
        }
    }

    private Map<String, Object> explanation(Tokens tokens, boolean complete) {
        if (verdict == null || refusal == null) {
            Map<String, Object> told = Explanation.usage(tokens, complete);
            if (!complete) {
                told.put("output_estimate_chars", usage.relayed().characters());
                told.put("output_estimate_tokens_floor", usage.relayed().quarter());
            }
            return told;
        }
        Map<String, Object> told = Explanation.refusal(refusal, verdict);
        if (!tokens.isUnknown()) {
            Map<String, Object> used = Explanation.usage(tokens, false);
            used.put("output_estimate_from", "streamed characters");
            told.put("usage", used);
        }
        return told;
    }
}
