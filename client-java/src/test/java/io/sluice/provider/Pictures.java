package io.sluice.provider;

import static io.sluice.provider.RequestsTest.CHAT;
import static io.sluice.provider.RequestsTest.GEMINI;
import static io.sluice.provider.RequestsTest.MESSAGES;
import static io.sluice.provider.RequestsTest.RESPONSES;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.sluice.Asked;
import io.sluice.Profile;
import io.sluice.Request;
import java.util.Base64;
import java.util.Random;
import java.util.stream.Stream;

/** One picture with the text round it, as each API has it. */
public record Pictures(String name, Profile profile, String path, String json) {
    /** 1.9 MB that do not compress, as base64: 2.5 million letters. */
    public static final String PNG_OF_1_9_MB = png();

    static final String TEXT = "What is on this picture? Grüße. ".repeat(20);

    /** In all four shapes, and in a result of a tool. */
    public static Stream<Pictures> all(String base64) {
        String url = "data:image/png;base64," + base64;
        String source = "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\""
                + base64 + "\"}}";
        return Stream.of(
                of("chat", OpenAi.PROFILE, CHAT, "{\"type\":\"image_url\",\"image_url\":{\"url\":\"" + url + "\"}}"),
                of(
                        "responses",
                        OpenAi.PROFILE,
                        RESPONSES,
                        "{\"type\":\"input_image\",\"image_url\":\"" + url + "\",\"detail\":\"auto\"}"),
                of("messages", Anthropic.PROFILE, MESSAGES, source),
                of(
                        "tool result",
                        Anthropic.PROFILE,
                        MESSAGES,
                        "{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_1\",\"content\":[" + source + "]}"),
                of(
                        "gemini",
                        Gemini.PROFILE,
                        GEMINI,
                        "{\"inlineData\":{\"mimeType\":\"image/png\",\"data\":\"" + base64 + "\"}}"),
                of(
                        "openrouter",
                        OpenRouter.PROFILE,
                        "/api" + CHAT,
                        "{\"type\":\"image_url\",\"image_url\":{\"url\":\"" + url + "\"}}"));
    }

    private static Pictures of(String name, Profile profile, String path, String part) {
        String text = path.equals(RESPONSES) ? "input_text" : "text";
        String kind = path.equals(GEMINI) ? "" : "\"type\":\"" + text + "\",";
        return new Pictures(name, profile, path, body(path, "{" + kind + "\"text\":\"" + TEXT + "\"}," + part));
    }

    /** A request with these parts in one turn. */
    static String body(String path, String parts) {
        return switch (path) {
            case RESPONSES -> "{\"model\":\"m\",\"input\":[{\"role\":\"user\",\"content\":[" + parts + "]}]}";
            case GEMINI -> "{\"contents\":[{\"role\":\"user\",\"parts\":[" + parts + "]}]}";
            default ->
                "{\"model\":\"m\",\"max_tokens\":64,\"messages\":[{\"role\":\"user\",\"content\":[" + parts + "]}]}";
        };
    }

    public Asked asked() {
        return profile.asks(Request.post(path, json.getBytes(UTF_8)));
    }

    @Override
    public String toString() {
        return name;
    }

    private static String png() {
        byte[] bytes = new byte[1_900_000];
        new Random(7).nextBytes(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }
}
