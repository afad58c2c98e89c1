package io.sluice.testbed.emulator;

import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Gemini's answer: one object, or a stream of such objects, each with what was used so far. The stream is server-sent events
 * of data alone that just end, or without {@code alt=sse} one JSON array sent in pieces.
 */
final class GeminiAnswer implements Answer {
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Call call;
    private final long id;
    private final boolean array;
    private final Shown shown;
    private long said;
    private long thought;
    private boolean begun;

    /** @param array whether a stream is an array instead of events */
    GeminiAnswer(Call call, long id, boolean array) {
        this.call = call;
        this.id = id;
        this.array = array;
        this.shown = new Shown(call);
    }

    @Override
    public String whole() {
        said = call.shown();
        thought = call.thinking();
        return JSON.writeValueAsString(piece(Filler.text(said), true));
    }

    /** Nothing is sent before the first text. */
    @Override
    public String opening() {
        return "";
    }

    @Override
    public String delta(long tokens) {
        long visible = shown.of(tokens);
        said += visible;
        thought += tokens - visible;
        return visible == 0 ? "" : send(piece(Filler.text(visible), false));
    }

    @Override
    public String closing() {
        return send(piece("", true)) + (array ? "]" : "");
    }

    /** A fault of its own comes as a bare object without {@code data:}, as clients have met it. */
    @Override
    public String failure(StreamError.What what) {
        return switch (what) {
            case OVERLOAD -> send(GeminiErrors.overloaded());
            case REQUESTS -> send(GeminiErrors.inStream());
            case SERVER -> JSON.writeValueAsString(GeminiErrors.internal());
            case CUT -> "";
        };
    }

    @Override
    public String streamType() {
        return array ? "application/json; charset=UTF-8" : "text/event-stream";
    }

    private String send(ObjectNode piece) {
        String text = JSON.writeValueAsString(piece);
        if (!array) {
            return "data: " + text + "\n\n";
        }
        String before = begun ? ",\n" : "[";
        begun = true;
        return before + text;
    }

    private ObjectNode piece(String text, boolean last) {
        ObjectNode piece = JSON.createObjectNode();
        ObjectNode candidate = piece.putArray("candidates").addObject();
        ObjectNode content = candidate.putObject("content");
        content.putArray("parts").addObject().put("text", text);
        content.put("role", "model");
        if (last) {
            candidate.put("finishReason", call.cut() ? "MAX_TOKENS" : "STOP");
        }
        candidate.put("index", 0);
        piece.set("usageMetadata", usage());
        return piece.put("modelVersion", call.model()).put("responseId", "resp-" + id);
    }

    /** The prompt includes what was cached; thoughts are no part of the candidates; what is 0 is left out. */
    private ObjectNode usage() {
        ObjectNode usage = JSON.createObjectNode().put("promptTokenCount", call.prompt());
        if (call.cacheRead() > 0) {
            usage.put("cachedContentTokenCount", call.cacheRead());
        }
        if (said > 0) {
            usage.put("candidatesTokenCount", said);
        }
        if (thought > 0) {
            usage.put("thoughtsTokenCount", thought);
        }
        usage.put("totalTokenCount", call.prompt() + said + thought);
        modality(usage, "promptTokensDetails", call.prompt());
        if (call.cacheRead() > 0) {
            modality(usage, "cacheTokensDetails", call.cacheRead());
        }
        return usage;
    }

    private static void modality(ObjectNode usage, String name, long tokens) {
        usage.putArray(name).addObject().put("modality", "TEXT").put("tokenCount", tokens);
    }
}
