package io.sluice.testbed.cli;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Whom to ask: a server, or Redis itself. */
final class TellerOptions {
    private static final String DEFAULT_SERVER = "http://localhost:8080";

    @Option(
            names = "--server",
            paramLabel = "URL",
            description =
                    "the Sluice server to ask; default $$SLUICE_SERVER, else the Redis of $$SLUICE_REDIS where that is set, "
                            + "else " + DEFAULT_SERVER)
    private @Nullable String server;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "holds the token for that server; default $$SLUICE_TOKEN itself, or none")
    private @Nullable Path tokenFile;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            description =
                    "or the Redis where the budget is, without a server; default $$SLUICE_REDIS where no server is named")
    private @Nullable String redis;

    Teller teller(CommandLine line) throws IOException {
        if (server != null && redis != null) {
            throw new ParameterException(line, "--server and --redis: name one of them");
        }
        Whom whom = Whom.of(server, redis, System.getenv());
        return whom.http()
                ? new HttpTeller(address(line, whom.address()), token())
                : new RedisTeller(RedisUri.connect(line, whom.address()));
    }

    /**
     * Who that is.
     *
     * @param http a server; else Redis
     */
    record Whom(boolean http, String address) {
        /** What is said on the command line goes before the environment, and there a server before Redis. */
        static Whom of(@Nullable String server, @Nullable String redis, Map<String, String> environment) {
            if (server != null) {
                return new Whom(true, server);
            }
            if (redis != null) {
                return new Whom(false, redis);
            }
            String exported = environment.getOrDefault("SLUICE_SERVER", "");
            String store = environment.getOrDefault("SLUICE_REDIS", "");
            if (exported.isBlank() && !store.isBlank()) {
                return new Whom(false, store);
            }
            return new Whom(true, exported.isBlank() ? DEFAULT_SERVER : exported);
        }
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
                ? exportedToken()
                : Files.readString(tokenFile, StandardCharsets.UTF_8).strip();
    }

    private static @Nullable String exportedToken() {
        String value = System.getenv("SLUICE_TOKEN");
        return value == null || value.isBlank() ? null : value;
    }
}
