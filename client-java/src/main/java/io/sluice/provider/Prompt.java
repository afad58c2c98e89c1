package io.sluice.provider;

import io.sluice.Provider;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * How much input a request's JSON is: the text in it, and its attachments by a bounded amount each. Every text counts, wherever it
 * stands, so that a member that is new tomorrow is not overlooked; what is known not to be read by the model is left out.
 *
 * <p>In declarations of tools, schemas and arguments the names are read too; elsewhere ({@code role}, {@code content}) they are not.
 *
 * <p>An amount too large is refused for ever where the provider would have served it, one too small is corrected when the call ends.
 * So attachments of unknown length are assumed to be {@link #MOST} at most.
 */
final class Prompt {
    /**
     * Anthropic: the most of its newest models (28-pixel patches). OpenAI: 1,536 patches × 2.46, more than any number of tiles at 70
     * to 170 each; gpt-4o-mini alone charges up to 48,000, and is corrected. Gemini: 16 tiles of 258. Sources: the vision pages of
     * platform.claude.com and developers.openai.com, the tokens page of ai.google.dev.
     */
    private static final Map<Provider, Long> PICTURE =
            Map.of(Provider.ANTHROPIC, 4_784L, Provider.OPENAI, 3_779L, Provider.GEMINI, 4_128L);

    private static final long ANY_PICTURE = 4_784;

    /** 512 pixels at most: 256 patches × 2.46. */
    private static final long SMALL_PICTURE = 630;

    /** A page is 1,500 to 3,000 tokens and, in most files, 30,000 bytes and more. */
    private static final long BYTES_A_TOKEN_OF_DOCUMENT = 25;

    private static final long A_PAGE = 1_500;

    /** Gemini: 32 tokens a second of sound, 263 of film; a second is 8 kB of one and 65 kB of the other and more. */
    private static final long BYTES_A_TOKEN_OF_RECORDING = 250;

    private static final long A_MOMENT = 320;

    /** 20 pages, 15 minutes of sound, 2 minutes of film. */
    private static final long MOST = 30_000;

    /** What providers do with their own affairs. */
    private static final Set<String> SETTINGS =
            Set.of("model", "models", "metadata", "user", "include", "stream_options");

    /** Whatever is in these is read as it stands. */
    private static final Set<String> VERBATIM = Set.of(
            "tools",
            "functions",
            "args",
            "arguments",
            "response",
            "format",
            "schema",
            "response_format",
            "output_format",
            "response_schema",
            "responseSchema",
            "responseJsonSchema");

    /** Here a text is a text, however it looks. */
    private static final Set<String> TEXTS = Set.of(
            "text",
            "content",
            "input",
            "output",
            "instructions",
            "system",
            "system_instruction",
            "systemInstruction",
            "prompt",
            "suffix",
            "thinking",
            "reasoning",
            "reasoning_content",
            "refusal",
            "arguments",
            "code");

    private static final Set<String> UNREAD =
            Set.of("signature", "thoughtSignature", "thought_signature", "id", "type");

    private final Provider provider;
    private long bytes;
    private long tokens;
    private int attachments;

    Prompt(Provider provider) {
        this.provider = provider;
    }

    /** Adds what a request's body says. */
    void read(JsonNode json) {
        for (Map.Entry<String, JsonNode> member : json.properties()) {
            if (!SETTINGS.contains(member.getKey())) {
                walk(member.getKey(), member.getValue(), isVerbatim(member.getKey(), member.getValue()));
            }
        }
    }

    /** Text, in bytes of UTF-8. */
    long bytes() {
        return bytes;
    }

    /** What comes beside the text. */
    long tokens() {
        return tokens;
    }

    int attachments() {
        return attachments;
    }

    private void walk(String name, JsonNode node, boolean verbatim) {
        if (node.isObject()) {
            if (verbatim) {
                verbatim(node);
            } else {
                part(node);
            }
        } else if (node.isArray()) {
            for (JsonNode element : node) {
                if (!verbatim && element.isNumber()) {
                    // A text that is sent as its tokens.
                    tokens++;
                } else {
                    walk(name, element, verbatim);
                }
            }
        } else if (node.isString()) {
            if (verbatim) {
                bytes += utf8(node.asString());
            } else {
                text(name, node.asString());
            }
        } else if (verbatim) {
            bytes += node.asString("").length();
        }
    }

    private void verbatim(JsonNode object) {
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            bytes += utf8(member.getKey());
            walk(member.getKey(), member.getValue(), true);
        }
    }

    private void part(JsonNode object) {
        String type = Json.text(object.path("type"));
        if (type.equals("redacted_thinking")) {
            bytes += Attachment.decoded(object.path("data").asString("").length());
            return;
        }
        Attachment attachment = Attachment.of(object);
        if (attachment != null) {
            add(attachment);
        }
        for (Map.Entry<String, JsonNode> member : object.properties()) {
            String name = member.getKey();
            if (attachment == null || !Attachment.holds(name)) {
                boolean asItStands =
                        isVerbatim(name, member.getValue()) || (name.equals("input") && type.endsWith("tool_use"));
                walk(name, member.getValue(), asItStands);
            }
        }
    }

    private static boolean isVerbatim(String name, JsonNode value) {
        return VERBATIM.contains(name) && value.isContainer();
    }

    private void text(String name, String text) {
        if (UNREAD.contains(name)) {
            return;
        }
        if (name.equals("encrypted_content")) {
            // Thoughts, sealed: about as long as they are.
            bytes += Attachment.decoded(text.length());
            return;
        }
        Attachment attachment = TEXTS.contains(name) ? null : Attachment.of(text);
        if (attachment == null) {
            bytes += utf8(text);
        } else {
            add(attachment);
        }
    }

    private void add(Attachment attachment) {
        if (attachment.kind() == Attachment.Kind.TEXT && attachment.bytes() >= 0) {
            bytes += attachment.bytes();
            return;
        }
        attachments++;
        tokens += switch (attachment.kind()) {
            case PICTURE -> attachment.small() ? SMALL_PICTURE : PICTURE.getOrDefault(provider, ANY_PICTURE);
            case RECORDING -> bounded(attachment.bytes(), BYTES_A_TOKEN_OF_RECORDING, A_MOMENT);
            case DOCUMENT, TEXT -> bounded(attachment.bytes(), BYTES_A_TOKEN_OF_DOCUMENT, A_PAGE);
        };
    }

    private static long bounded(long bytes, long bytesAToken, long least) {
        return bytes < 0 ? MOST : Math.max(least, Math.min(MOST, bytes / bytesAToken));
    }

    /** Its length in UTF-8, without making it. */
    static long utf8(String text) {
        long length = text.length();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            // Each half of a pair is two of its four bytes.
            length += c < 0x80 ? 0 : c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
        }
        return length;
    }
}
