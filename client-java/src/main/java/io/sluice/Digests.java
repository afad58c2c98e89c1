package io.sluice;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;

/** Short names of contents. */
final class Digests {
    private Digests() {}

    /** Of caller and body: the same id with another digest is a conflict. */
    static String of(String host, Call call) {
        String body = String.join(
                "\n",
                host,
                call.model,
                String.valueOf(call.inputTokens),
                Objects.toString(call.inputBytes, ""),
                String.valueOf(call.cacheReadTokens),
                String.valueOf(call.cacheWriteTokens),
                String.valueOf(call.attachedTokens),
                String.valueOf(call.choices),
                Objects.toString(call.maxOutputTokens, ""),
                Objects.toString(call.agent, ""),
                Objects.toString(call.team, ""),
                Objects.toString(call.workspace, ""),
                Objects.toString(call.run, ""),
                Objects.toString(call.serviceTier, ""),
                Objects.toString(call.speed, ""),
                Objects.toString(call.endpoint, ""),
                call.priority.label());
        return hex(body, 8);
    }

    /** The first {@code bytes} bytes of the text's SHA-256, in hex. */
    static String hex(String text, int bytes) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
