package io.sluice.testbed.bench;

import io.sluice.testbed.redis.Scratch;
import io.sluice.testbed.server.ServerOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;

/** An admin's token, and a file in which servers find it: callers of a real server have one. */
record BenchToken(String text, Path file) {

    static BenchToken fresh() {
        byte[] secret = new byte[32];
        new SecureRandom().nextBytes(secret);
        String text = "slc_" + HexFormat.of().formatHex(secret);
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII));
            Path file = Scratch.directory("token-").resolve("tokens.yaml");
            Files.writeString(
                    file,
                    "tokens: [{name: bench, sha256: %s, role: admin, projects: [\"*\"]}]\n"
                            .formatted(HexFormat.of().formatHex(hash)));
            return new BenchToken(text, file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A server that knows it. */
    ServerOptions known(ServerOptions server) {
        return server.with("sluice.tokens", file.toString()).with("server.address", "127.0.0.1");
    }
}
