package io.sluice.testbed.cli;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Whom to ask: a server, or Redis itself. */
final class TellerOptions {
    @Option(
            names = "--server",
            paramLabel = "URL",
            description = "a Sluice server, such as http://localhost:8080; default $$SLUICE_SERVER")
    private @Nullable String server;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "holds the token for that server; default $$SLUICE_TOKEN itself, or none")
    private @Nullable Path tokenFile;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            description = "or the Redis where the budget is; default $$SLUICE_REDIS")
    private @Nullable String redis;

    /** What is said on the command line goes before the environment, a server before Redis. */
    Teller teller(CommandLine line) throws IOException {
        if (server != null && redis != null) {
            throw new ParameterException(line, "--server and --redis: name one of them");
        }
        String url = server != null ? server : redis != null ? null : environment("SLUICE_SERVER");
        if (url != null) {
            return new HttpTeller(address(line, url), token());
        }
        String uri = redis != null ? redis : environment("SLUICE_REDIS");
        if (uri == null) {
            throw new ParameterException(line, "name a server (--server URL) or a Redis (--redis URI)");
        }
        return new RedisTeller(RedisUri.connect(line, uri));
    }

    /** With a slash at its end. */
    static URI address(CommandLine line, String url) {
        String address = url.endsWith("/") ? url : url + "/";
        if (!address.matches("(?i)https?://[^/?#@]+/([^?#]*/)?")) {
            throw new ParameterException(line, "--server: must be such as http://localhost:8080");
        }
        try {
            return URI.create(address);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(line, "--server: must be such as http://localhost:8080", e);
        }
    }

    /** Never on the command line, where every process of the machine could read it. */
    private @Nullable String token() throws IOException {
        return tokenFile == null
                ? environment("SLUICE_TOKEN")
                : Files.readString(tokenFile, StandardCharsets.UTF_8).strip();
    }

    private static @Nullable String environment(String name) {
        String value = System.getenv(name);
        return value == null || value.isBlank() ? null : value;
    }
}
