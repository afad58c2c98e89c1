package io.sluice.provider;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sluice.Asked;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Makes a chat stream tell what it used though its sender did not ask. Without {@code stream_options.include_usage} such streams end
 * without a word about usage (langgenius/dify-official-plugins#3650); with it one more chunk comes, without choices, which breaks
 * readers that did not ask for it: {@link UsageFilter} takes it out again.
 *
 * <pre>{@code
 * if (!asked.tellsUsage()) {
 *     send(StreamUsage.ask(asked, body));        // and relay the answer through new UsageFilter()
 * }
 * }</pre>
 *
 * <p>For what stands between an agent and its provider, such as a gateway. An upstream that refuses the member must not be asked: then
 * the estimate stands.
 *
 * <p>Source: openai/openai-openapi, ChatCompletionStreamOptions.
 */
public final class StreamUsage {
    private static final JsonFactory FACTORY = new JsonFactory();
    private static final String OPTIONS = "stream_options";
    private static final String INCLUDE = "include_usage";

    private StreamUsage() {}

    /** Bytes to put in place of some others. */
    private record Edit(int at, int length, String text) {}

    /**
     * The body with {@code stream_options.include_usage: true}; no other byte is changed.
     *
     * @param asked what its profile read in it
     * @return the same array where there is nothing to ask for: it is no chat stream, tells its usage anyway, is no JSON in UTF-8, or
     *     has options that are no object
     */
    public static byte[] ask(Asked asked, byte[] body) {
        if (asked.tellsUsage() || !isUtf8(body)) {
            return body;
        }
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), body)) {
            return edited(body, edits(parser));
        } catch (JacksonException e) {
            return body;
        }
    }

    /** Neither another encoding nor a byte order mark: places in the text are places in the bytes. */
    private static boolean isUtf8(byte[] body) {
        return body.length > 1 && body[0] > 0 && body[1] != 0;
    }

    /** Of members that are there twice each is seen to, whichever counts. */
    private static List<Edit> edits(JsonParser parser) {
        List<Edit> edits = new ArrayList<>();
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            return edits;
        }
        int start = at(parser) + 1;
        boolean there = false;
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            boolean options = parser.currentName().equals(OPTIONS);
            JsonToken value = parser.nextToken();
            if (options && value == JsonToken.START_OBJECT) {
                options(parser, edits);
            } else if (options && value == JsonToken.VALUE_NULL) {
                edits.add(new Edit(at(parser), "null".length(), "{\"" + INCLUDE + "\":true}"));
            } else {
                parser.skipChildren();
            }
            there |= options;
        }
        if (!there) {
            edits.add(new Edit(start, 0, "\"" + OPTIONS + "\":{\"" + INCLUDE + "\":true},"));
        }
        return edits;
    }

    private static void options(JsonParser parser, List<Edit> edits) {
        int start = at(parser) + 1;
        boolean there = false;
        boolean empty = true;
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            boolean include = parser.currentName().equals(INCLUDE);
            JsonToken value = parser.nextToken();
            if (include && (value == JsonToken.VALUE_FALSE || value == JsonToken.VALUE_NULL)) {
                edits.add(new Edit(at(parser), parser.getString().length(), "true"));
            }
            parser.skipChildren();
            there |= include;
            empty = false;
        }
        if (!there) {
            edits.add(new Edit(start, 0, "\"" + INCLUDE + "\":true" + (empty ? "" : ",")));
        }
    }

    private static int at(JsonParser parser) {
        return (int) parser.currentTokenLocation().getByteOffset();
    }

    private static byte[] edited(byte[] body, List<Edit> edits) {
        if (edits.isEmpty()) {
            return body;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream(body.length + 64);
        int at = 0;
        for (Edit edit : edits) {
            out.write(body, at, edit.at - at);
            out.writeBytes(edit.text.getBytes(UTF_8));
            at = edit.at + edit.length;
        }
        out.write(body, at, body.length - at);
        return out.toByteArray();
    }
}
