package io.sluice.provider;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A picture, document, sound or film in a request. Its data are no text: a picture of 1.9 MB measured like prose became 638,000 tokens
 * and was refused, though the provider charges one or two thousand (BerriAI/litellm#32891).
 *
 * @param bytes its size; -1 if it stands elsewhere and nobody knows
 * @param small whether the request asks for it to be looked at in low detail
 */
record Attachment(Kind kind, long bytes, boolean small) {
    enum Kind {
        PICTURE,
        DOCUMENT,
        /** A sound or a film. */
        RECORDING,
        /** Plain text, encoded. */
        TEXT
    }

    /** No prose has so many letters without a blank. */
    static final int LONG = 1024;

    private static final Map<String, Kind> TYPES = Map.ofEntries(
            Map.entry("image", Kind.PICTURE),
            Map.entry("image_url", Kind.PICTURE),
            Map.entry("input_image", Kind.PICTURE),
            Map.entry("computer_screenshot", Kind.PICTURE),
            Map.entry("image_generation_call", Kind.PICTURE),
            Map.entry("document", Kind.DOCUMENT),
            Map.entry("file", Kind.DOCUMENT),
            Map.entry("input_file", Kind.DOCUMENT),
            Map.entry("audio", Kind.RECORDING),
            Map.entry("input_audio", Kind.RECORDING),
            Map.entry("video", Kind.RECORDING),
            Map.entry("video_url", Kind.RECORDING),
            Map.entry("input_video", Kind.RECORDING));

    /** Objects around the data. Those of Gemini say themselves what they are. */
    private static final List<String> GEMINI = List.of("inlineData", "inline_data", "fileData", "file_data");

    private static final List<String> HOLDERS = List.of("source", "image_url", "input_audio", "video_url", "file");
    private static final List<String> HERE = List.of("data", "file_data", "result");
    private static final List<String> ELSEWHERE =
            List.of("url", "image_url", "video_url", "file_url", "uri", "file_uri", "fileUri", "file_id", "fileId");
    private static final List<String> MEDIA = List.of("media_type", "mime_type", "mimeType");

    /** The attachment that a part of a prompt is; {@code null} if it is none. */
    static @Nullable Attachment of(JsonNode part) {
        Kind kind = TYPES.get(Json.text(part.path("type")));
        JsonNode holder = kind == null ? holder(part, GEMINI) : holder(part, HOLDERS);
        if (kind == null && holder == null) {
            return null;
        }
        String told = holder == null ? "" : Json.text(holder.path("type"));
        if (told.equals("text") || told.equals("content")) {
            return null;
        }
        String media = first(part, holder, MEDIA);
        boolean small = first(part, holder, List.of("detail")).equals("low");
        Kind usual = kind == null ? Kind.DOCUMENT : kind;
        String here = first(part, holder, HERE);
        String data = here.isEmpty() ? first(part, holder, ELSEWHERE) : here;
        if (data.isEmpty()) {
            return null;
        }
        return isUrlOfData(data)
                ? ofUrl(data, usual, small)
                : new Attachment(kind(media, usual), here.isEmpty() ? -1 : decoded(here.length()), small);
    }

    /** The attachment that a text at a place nobody knows is; {@code null} if it is text. */
    static @Nullable Attachment of(String text) {
        if (text.length() <= LONG) {
            return null;
        }
        return isUrlOfData(text)
                ? ofUrl(text, Kind.PICTURE, false)
                : isBase64(text) ? new Attachment(Kind.PICTURE, decoded(text.length()), false) : null;
    }

    /** Whether a member of an attachment is part of it, and not a text beside it such as its title. */
    static boolean holds(String member) {
        return HERE.contains(member)
                || ELSEWHERE.contains(member)
                || HOLDERS.contains(member)
                || GEMINI.contains(member);
    }

    /** How many bytes so many letters of base64 stand for. */
    static long decoded(long letters) {
        return letters * 3 / 4;
    }

    private static @Nullable JsonNode holder(JsonNode part, List<String> names) {
        for (String name : names) {
            if (part.path(name).isObject()) {
                return part.path(name);
            }
        }
        return null;
    }

    private static String first(JsonNode part, @Nullable JsonNode holder, List<String> names) {
        String found = first(part, names);
        return found.isEmpty() && holder != null ? first(holder, names) : found;
    }

    private static String first(JsonNode node, List<String> names) {
        for (String name : names) {
            JsonNode value = node.path(name);
            if (value.isString() && !value.asString().isEmpty()) {
                return value.asString();
            }
        }
        return "";
    }

    private static boolean isUrlOfData(String text) {
        return text.regionMatches(true, 0, "data:", 0, 5);
    }

    private static Attachment ofUrl(String url, Kind usual, boolean small) {
        int comma = url.indexOf(',');
        String head = url.substring(5, Math.max(5, comma));
        return new Attachment(kind(head, usual), decoded(url.length() - comma - 1L), small);
    }

    private static Kind kind(String media, Kind usual) {
        String type = media.toLowerCase(Locale.ROOT);
        if (type.startsWith("image/")) {
            return Kind.PICTURE;
        }
        if (type.startsWith("audio/") || type.startsWith("video/")) {
            return Kind.RECORDING;
        }
        if (type.startsWith("application/pdf")) {
            return Kind.DOCUMENT;
        }
        return type.startsWith("text/") ? Kind.TEXT : usual;
    }

    private static boolean isBase64(String text) {
        return text.chars()
                .allMatch(c -> (c >= 'A' && c <= 'Z')
                        || (c >= 'a' && c <= 'z')
                        || (c >= '0' && c <= '9')
                        || "+/-_=".indexOf(c) >= 0);
    }
}
