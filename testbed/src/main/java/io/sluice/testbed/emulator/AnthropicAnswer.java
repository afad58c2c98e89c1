package io.sluice.testbed.emulator;

import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What Anthropic answers with: a whole message, or the events of one. The text is filler of the right length. */
final class AnthropicAnswer implements Answer {
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Call call;
    private final long id;
    private final Shown shown;

    AnthropicAnswer(Call call, long id) {
        this.call = call;
        this.id = id;
        this.shown = new Shown(call);
    }

    @Override
    public String whole() {
        ObjectNode message = start();
        message.withArray("content").addObject().put("type", "text").put("text", Filler.text(call.shown()));
        message.put("stop_reason", stopReason());
        ObjectNode usage = usage(call.output());
        if (call.thinking() > 0) {
            usage.putObject("output_tokens_details").put("thinking_tokens", call.thinking());
        }
        message.set("usage", usage.put("service_tier", "standard"));
        return JSON.writeValueAsString(message);
    }

    /** {@code message_start} already says one token of output, as the real one does. */
    @Override
    public String opening() {
        ObjectNode message = start();
        message.set("usage", usage(Math.min(1, call.output())));
        ObjectNode event = JSON.createObjectNode().put("type", "message_start");
        event.set("message", message);
        return event("message_start", JSON.writeValueAsString(event))
                + event(
                        "content_block_start",
                        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}")
                + event("ping", "{\"type\":\"ping\"}");
    }

    @Override
    public String delta(long tokens) {
        long visible = shown.of(tokens);
        return visible == 0
                ? ""
                : event(
                        "content_block_delta",
                        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\""
                                + Filler.text(visible) + "\"}}");
    }

    /** {@code usage} in {@code message_delta} is cumulative: it replaces what {@code message_start} said. */
    @Override
    public String closing() {
        String thinking =
                call.thinking() == 0 ? "" : ",\"output_tokens_details\":{\"thinking_tokens\":" + call.thinking() + "}";
        return event("content_block_stop", "{\"type\":\"content_block_stop\",\"index\":0}")
                + event(
                        "message_delta",
                        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" + stopReason()
                                + "\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":" + call.output() + thinking
                                + "}}")
                + event("message_stop", "{\"type\":\"message_stop\"}");
    }

    @Override
    public String failure(StreamError.What what) {
        return switch (what) {
            case OVERLOAD -> error("overloaded_error", "Overloaded");
            case REQUESTS -> error("rate_limit_error", "This request would exceed your organization's rate limit.");
            case SERVER -> error("api_error", "Internal server error");
            case CUT -> "";
        };
    }

    private String error(String type, String message) {
        return event("error", JSON.writeValueAsString(AnthropicDialect.failure(type, message, id)));
    }

    static ObjectNode models() {
        ObjectNode list = JSON.createObjectNode();
        ArrayNode data = list.putArray("data");
        data.addObject()
                .put("type", "model")
                .put("id", "claude-example-1")
                .put("display_name", "Claude Example 1")
                .put("created_at", "2026-08-24T00:00:00Z");
        list.put("has_more", false).put("first_id", "claude-example-1").put("last_id", "claude-example-1");
        return list;
    }

    private ObjectNode start() {
        ObjectNode message = JSON.createObjectNode();
        message.put("id", "msg_" + id);
        message.put("type", "message");
        message.put("role", "assistant");
        message.put("model", call.model());
        message.putArray("content");
        message.putNull("stop_reason");
        message.putNull("stop_sequence");
        return message;
    }

    private ObjectNode usage(long output) {
        ObjectNode usage = JSON.createObjectNode();
        usage.put("input_tokens", call.input());
        usage.put("cache_creation_input_tokens", call.cacheWrite());
        usage.put("cache_read_input_tokens", call.cacheRead());
        usage.put("output_tokens", output);
        return usage;
    }

    private String stopReason() {
        return call.cut() ? "max_tokens" : "end_turn";
    }

    private static String event(String name, String data) {
        return "event: " + name + "\ndata: " + data + "\n\n";
    }
}
