package io.sluice.server;

import io.sluice.testbed.redis.RedisServers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Servers on the shared Redis that want a token: {@code root} may do everything; {@code one}, {@code two} and {@code mute} are
 * agents of all projects, and {@code mute} may not report; {@code bound} is one of the team research in projects {@code s-*}, whose agents
 * are named {@code r/…}.
 */
final class Secured implements AutoCloseable {
    final Started server;
    final Http root;
    final Http one;
    final Http two;
    final Http mute;
    final Http bound;

    Secured(Path directory) throws IOException {
        Path file = directory.resolve("tokens.yaml");
        Files.writeString(file, """
                tokens:
                  - {name: root, sha256: %s, role: admin, projects: ["*"]}
                  - {name: one, sha256: %s, role: agent, projects: ["*"]}
                  - {name: two, sha256: %s, role: agent, projects: ["*"]}
                  - {name: mute, sha256: %s, role: agent, projects: ["*"], may_report: false}
                  - {name: bound, sha256: %s, role: agent, projects: ["s-*"], team: research, agent_prefix: "r/"}
                """.formatted(
                        hash(token("root")),
                        hash(token("one")),
                        hash(token("two")),
                        hash(token("mute")),
                        hash(token("bound"))));
        server = Started.on(RedisServers.shared().uri(), "--sluice.tokens=" + file);
        root = server.http.with(token("root"));
        one = server.http.with(token("one"));
        two = server.http.with(token("two"));
        mute = server.http.with(token("mute"));
        bound = server.http.with(token("bound"));
    }

    static String token(String name) {
        return "slc_" + hash("of " + name);
    }

    static String hash(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        server.close();
    }
}
