package io.sluice.testbed.emulator;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A chat completion, as OpenAI shaped it and OpenRouter took it over: whole, or chunks and {@code [DONE]}. */
abstract class ChatAnswer implements Answer {
    static final JsonMapper JSON = JsonMapper.shared();
    private static final String DONE = "data: [DONE]\n\n";

    final Call call;
    private final Shown shown;

    ChatAnswer(Call call) {
        this.call = call;
        this.shown = new Shown(call);
    }

    /** An answer or a chunk, before its choices. */
    abstract ObjectNode head(String object);

    /** The message of a whole answer and the choice it is in may carry more. */
    abstract void finish(ObjectNode message, ObjectNode choice);

    /** The chunks after the last content, {@code [DONE]} left out. */
    abstract String end();

    /** The chunk of a stream that fails. */
    abstract JsonNode error(StreamError.What what);

    ObjectNode usage() {
        ObjectNode usage = JSON.createObjectNode();
        usage.put("prompt_tokens", call.prompt());
        usage.put("completion_tokens", call.output());
        usage.put("total_tokens", call.prompt() + call.output());
        return usage;
    }

    /** Cached input is a part of the prompt, reasoning a part of the completion. */
    ObjectNode details(ObjectNode usage) {
        usage.putObject("prompt_tokens_details")
                .put("cached_tokens", call.cacheRead())
                .put("cache_write_tokens", call.cacheWrite())
                .put("audio_tokens", 0);
        usage.putObject("completion_tokens_details").put("reasoning_tokens", call.thinking());
        return usage;
    }

    String reason() {
        return call.cut() ? "length" : "stop";
    }

    @Override
    public String whole() {
        ObjectNode answer = head("chat.completion");
        ObjectNode choice = answer.putArray("choices").addObject().put("index", 0);
        ObjectNode message =
                choice.putObject("message").put("role", "assistant").put("content", Filler.text(call.shown()));
        choice.put("finish_reason", reason());
        finish(message, choice);
        answer.set("usage", details(usage()));
        return JSON.writeValueAsString(answer);
    }

    @Override
    public String opening() {
        return data(chunk("", true, null));
    }

    @Override
    public String delta(long tokens) {
        long visible = shown.of(tokens);
        return visible == 0 ? "" : data(chunk(Filler.text(visible), false, null));
    }

    @Override
    public String closing() {
        return end() + DONE;
    }

    @Override
    public String failure(StreamError.What what) {
        return what == StreamError.What.CUT ? "" : data(error(what));
    }

    /** @param finish why it ends; {@code null}: it does not */
    ObjectNode chunk(@Nullable String content, boolean first, @Nullable String finish) {
        ObjectNode chunk = head("chat.completion.chunk");
        ObjectNode choice = chunk.putArray("choices").addObject().put("index", 0);
        ObjectNode delta = choice.putObject("delta");
        if (first) {
            delta.put("role", "assistant");
        }
        if (content != null) {
            delta.put("content", content);
        }
        choice.put("finish_reason", finish);
        return chunk;
    }

    static String data(JsonNode chunk) {
        return "data: " + JSON.writeValueAsString(chunk) + "\n\n";
    }
}
