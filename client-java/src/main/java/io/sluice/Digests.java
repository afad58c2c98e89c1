package io.sluice;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Objects;

/** Short names of contents. */
final class Digests {
    private Digests() {}

    /** Of caller and body: the same id with another digest is a conflict. */
    static String of(String host, Call call) {
        return hex(host + "\n" + body(call), 8);
    }

    /**
     * Of a caller at the desk and the body: 11 characters that are the same for all that the caller asks, then 11 of the rest. So who
     * knows the caller can tell its questions from others'.
     */
    static String of(Ticket ticket, Call call) {
        String lease = ticket.lease() == null ? "" : ticket.lease().toString();
        return ofCaller(ticket.caller()) + base64(body(call) + "\n" + lease);
    }

    /** What the digests of one caller at the desk begin with. */
    static String ofCaller(String caller) {
        return base64("desk\n" + caller);
    }

    private static String base64(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(sha256(text, 8));
    }

    private static String body(Call call) {
        return String.join(
                "\n",
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
    }

    /** The first {@code bytes} bytes of the text's SHA-256, in hex. */
    static String hex(String text, int bytes) {
        return HexFormat.of().formatHex(sha256(text, bytes));
    }

    private static byte[] sha256(String text, int bytes) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return Arrays.copyOf(hash, bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
