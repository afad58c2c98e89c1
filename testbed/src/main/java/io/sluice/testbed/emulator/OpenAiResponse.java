package io.sluice.testbed.emulator;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** OpenAI's Responses API: an object, or numbered events that end with one, without {@code [DONE]}. */
final class OpenAiResponse implements Answer {
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Call call;
    private final long id;
    private final long created;
    private final Shown shown;
    private long sequence;

    /** @param created in epoch seconds */
    OpenAiResponse(Call call, long id, long created) {
        this.call = call;
        this.id = id;
        this.created = created;
        this.shown = new Shown(call);
    }

    @Override
    public String whole() {
        return JSON.writeValueAsString(finished());
    }

    @Override
    public String opening() {
        ObjectNode item = message("in_progress");
        item.putArray("content");
        return event("response.created", object("in_progress"), null)
                + event("response.in_progress", object("in_progress"), null)
                + event("response.output_item.added", null, inOutput().set("item", item))
                + event("response.content_part.added", null, inContent().set("part", part("")));
    }

    @Override
    public String delta(long tokens) {
        long visible = shown.of(tokens);
        return visible == 0
                ? ""
                : event("response.output_text.delta", null, inContent().put("delta", Filler.text(visible)));
    }

    @Override
    public String closing() {
        String text = Filler.text(call.shown());
        return event("response.output_text.done", null, inContent().put("text", text))
                + event("response.content_part.done", null, inContent().set("part", part(text)))
                + event("response.output_item.done", null, inOutput().set("item", item()))
                + event(call.cut() ? "response.incomplete" : "response.completed", finished(), null);
    }

    /** Too much load and limits come as a failed response, without usage; other faults as an event of their own. */
    @Override
    public String failure(StreamError.What what) {
        return switch (what) {
            case OVERLOAD ->
                failed("server_is_overloaded", "Our servers are currently overloaded. Please try again later.");
            case REQUESTS -> failed("rate_limit_exceeded", OpenAiTexts.inStream(call));
            case SERVER -> {
                ObjectNode error = JSON.createObjectNode()
                        .put("code", "server_error")
                        .put("message", OpenAiTexts.SERVER_ERROR)
                        .putNull("param");
                yield event("error", null, error);
            }
            case CUT -> "";
        };
    }

    private String failed(String code, String message) {
        ObjectNode response = object("failed");
        response.putObject("error").put("code", code).put("message", message);
        return event("response.failed", response, null);
    }

    private ObjectNode object(String status) {
        ObjectNode response = JSON.createObjectNode()
                .put("id", "resp_" + id)
                .put("object", "response")
                .put("created_at", created)
                .put("status", status)
                .put("model", call.model())
                .put("service_tier", "default");
        response.putArray("output");
        return response.putNull("error").putNull("incomplete_details").putNull("usage");
    }

    private ObjectNode finished() {
        ObjectNode response = object(call.cut() ? "incomplete" : "completed");
        response.withArray("output").add(item());
        if (call.cut()) {
            response.putObject("incomplete_details").put("reason", "max_output_tokens");
        }
        ObjectNode usage = response.putObject("usage").put("input_tokens", call.prompt());
        usage.putObject("input_tokens_details")
                .put("cached_tokens", call.cacheRead())
                .put("cache_write_tokens", call.cacheWrite());
        usage.put("output_tokens", call.output());
        usage.putObject("output_tokens_details").put("reasoning_tokens", call.thinking());
        usage.put("total_tokens", call.prompt() + call.output());
        return response;
    }

    private ObjectNode item() {
        ObjectNode item = message(call.cut() ? "incomplete" : "completed");
        item.putArray("content").add(part(Filler.text(call.shown())));
        return item;
    }

    private ObjectNode message(String status) {
        return JSON.createObjectNode()
                .put("id", "msg_" + id)
                .put("type", "message")
                .put("status", status)
                .put("role", "assistant");
    }

    private static ObjectNode part(String text) {
        ObjectNode part = JSON.createObjectNode().put("type", "output_text").put("text", text);
        part.putArray("annotations");
        return part;
    }

    private static ObjectNode inOutput() {
        return JSON.createObjectNode().put("output_index", 0);
    }

    private ObjectNode inContent() {
        return JSON.createObjectNode()
                .put("item_id", "msg_" + id)
                .put("output_index", 0)
                .put("content_index", 0);
    }

    private String event(String type, @Nullable ObjectNode response, @Nullable JsonNode members) {
        ObjectNode event = JSON.createObjectNode().put("type", type).put("sequence_number", sequence++);
        if (response != null) {
            event.set("response", response);
        }
        if (members != null) {
            members.properties().forEach(member -> event.set(member.getKey(), member.getValue()));
        }
        return "event: " + type + "\ndata: " + JSON.writeValueAsString(event) + "\n\n";
    }
}
