package io.sluice.testbed.emulator;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * OpenAI's chat completion. A stream tells usage only if it was asked to, in one more chunk without choices; every chunk
 * before that then says {@code usage: null}.
 */
final class OpenAiChat extends ChatAnswer {
    private final long id;
    private final long created;
    private final boolean includeUsage;

    /** @param created in epoch seconds */
    OpenAiChat(Call call, long id, long created, boolean includeUsage) {
        super(call);
        this.id = id;
        this.created = created;
        this.includeUsage = includeUsage;
    }

    @Override
    ObjectNode head(String object) {
        return JSON.createObjectNode()
                .put("id", "chatcmpl-" + id)
                .put("object", object)
                .put("created", created)
                .put("model", call.model())
                .put("service_tier", "default");
    }

    @Override
    void finish(ObjectNode message, ObjectNode choice) {
        message.putNull("refusal");
        choice.putNull("logprobs");
    }

    @Override
    ObjectNode chunk(@Nullable String content, boolean first, @Nullable String finish) {
        ObjectNode chunk = super.chunk(content, first, finish);
        return includeUsage ? chunk.putNull("usage") : chunk;
    }

    @Override
    ObjectNode details(ObjectNode usage) {
        super.details(usage);
        usage.withObject("completion_tokens_details")
                .put("audio_tokens", 0)
                .put("accepted_prediction_tokens", 0)
                .put("rejected_prediction_tokens", 0);
        return usage;
    }

    @Override
    String end() {
        String last = data(chunk(null, false, reason()));
        if (!includeUsage) {
            return last;
        }
        ObjectNode usage = head("chat.completion.chunk");
        usage.putArray("choices");
        usage.set("usage", details(usage()));
        return last + data(usage);
    }

    @Override
    JsonNode error(StreamError.What what) {
        return switch (what) {
            case OVERLOAD -> OpenAiDialect.overloaded();
            case REQUESTS -> OpenAiDialect.failure(OpenAiTexts.inStream(call), "requests", "rate_limit_exceeded");
            default -> OpenAiDialect.failure(OpenAiTexts.SERVER_ERROR, "server_error", null);
        };
    }
}
