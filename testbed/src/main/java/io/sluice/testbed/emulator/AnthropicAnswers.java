package io.sluice.testbed.emulator;

import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What Anthropic answers with: a whole message, or the events of one. The text is filler of the right length. */
final class AnthropicAnswers {
    private static final JsonMapper JSON = JsonMapper.shared();
    private static final String FILLER = "emulated text is four characters a token, more or less. ".repeat(64);

    private AnthropicAnswers() {}

    static ObjectNode message(Call call, long id) {
        ObjectNode message = start(call, id);
        message.withArray("content").addObject().put("type", "text").put("text", text(call.output()));
        message.put("stop_reason", stopReason(call));
        message.set("usage", usage(call, call.output()).put("service_tier", "standard"));
        return message;
    }

    /** {@code message_start} already says one token of output, as the real one does. */
    static String opening(Call call, long id) {
        ObjectNode message = start(call, id);
        message.set("usage", usage(call, Math.min(1, call.output())));
        ObjectNode event = JSON.createObjectNode().put("type", "message_start");
        event.set("message", message);
        return event("message_start", JSON.writeValueAsString(event))
                + event(
                        "content_block_start",
                        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}")
                + event("ping", "{\"type\":\"ping\"}");
    }

    static String delta(long tokens) {
        return event(
                "content_block_delta",
                "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\""
                        + text(tokens) + "\"}}");
    }

    /** {@code usage} in {@code message_delta} is cumulative: it replaces what {@code message_start} said. */
    static String closing(Call call) {
        return event("content_block_stop", "{\"type\":\"content_block_stop\",\"index\":0}")
                + event(
                        "message_delta",
                        "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" + stopReason(call)
                                + "\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":" + call.output() + "}}")
                + event("message_stop", "{\"type\":\"message_stop\"}");
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

    private static ObjectNode start(Call call, long id) {
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

    private static ObjectNode usage(Call call, long output) {
        ObjectNode usage = JSON.createObjectNode();
        usage.put("input_tokens", call.input());
        usage.put("cache_creation_input_tokens", call.cacheWrite());
        usage.put("cache_read_input_tokens", call.cacheRead());
        usage.put("output_tokens", output);
        return usage;
    }

    private static String stopReason(Call call) {
        return call.cut() ? "max_tokens" : "end_turn";
    }

    private static String text(long tokens) {
        int characters = Math.toIntExact(tokens * TextSize.CHARACTERS_A_TOKEN);
        if (characters <= FILLER.length()) {
            return FILLER.substring(0, characters);
        }
        return FILLER.repeat(characters / FILLER.length()) + FILLER.substring(0, characters % FILLER.length());
    }

    private static String event(String name, String data) {
        return "event: " + name + "\ndata: " + data + "\n\n";
    }
}
