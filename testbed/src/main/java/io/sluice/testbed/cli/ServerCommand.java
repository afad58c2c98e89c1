package io.sluice.testbed.cli;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.server.ServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code server}: the server from its jar, with a Redis of its own where none is named. */
@Command(
        name = "server",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs the server: policies, permits over HTTP for agents in any language, the dashboard.",
            "Ends with SIGTERM or Ctrl-C, and lets calls that wait end with a clear answer."
        },
        footer = {
            "",
            "Without tokens it listens on loopback only. Your environment counts: every setting of docs/server.md is a variable, "
                    + "such as SLUICE_TOKENS, SLUICE_UPSTREAMS, SERVER_ADDRESS; SPRING_APPLICATION_JSON is read too. What is said here goes before it."
        })
final class ServerCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--port",
            paramLabel = "N",
            description = "0: any that is free, which is told; default $$SERVER_PORT, else 8080")
    private @Nullable Integer port;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            description =
                    "where the budgets are; default $$SLUICE_REDIS, else a Redis that is started for it and forgotten with it")
    private @Nullable String redis;

    @Option(
            names = "--policies",
            paramLabel = "DIR",
            description = "a directory of policy files, installed and watched; default $$SLUICE_POLICIES")
    private @Nullable Path policies;

    @Option(
            names = "--tokens",
            paramLabel = "FILE",
            description = "who may call, by the SHA-256 of their tokens; default $$SLUICE_TOKENS")
    private @Nullable Path tokens;

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        if (redis != null || redisIsNamed(System.getenv())) {
            return run(redis);
        }
        try (RedisServer own = RedisServers.start()) {
            say("no --redis: one was started at " + own.uri() + "; what it holds is gone when this ends");
            return run(own.uri());
        }
    }

    /** By the environment, in one of the two ways that docs/server.md tells. */
    static boolean redisIsNamed(Map<String, String> environment) {
        if (!environment.getOrDefault("SLUICE_REDIS", "").isBlank()) {
            return true;
        }
        try {
            JsonNode more = JsonMapper.shared().readTree(environment.getOrDefault("SPRING_APPLICATION_JSON", "{}"));
            return more.has("sluice.redis") || more.path("sluice").has("redis");
        } catch (JacksonException e) {
            // The server will say what is wrong with it.
            return false;
        }
    }

    private int run(@Nullable String uri) throws IOException, InterruptedException {
        Map<String, String> settings = new LinkedHashMap<>();
        put(settings, "sluice.redis", uri);
        put(settings, "server.port", port);
        put(settings, "sluice.policies", policies == null ? null : path(policies));
        put(settings, "sluice.tokens", tokens == null ? null : path(tokens));
        ServerOptions options = new ServerOptions(ServerOptions.builtIn(Home.directory()), List.of(), settings);
        ServerRun run = new ServerRun(
                options.processOfTheCaller(),
                spec.commandLine().getOut(),
                spec.commandLine().getErr());
        return run.untilItsEnd() == 0 ? ExitCode.GOOD : ExitCode.ENVIRONMENT;
    }

    private static void put(Map<String, String> settings, String property, @Nullable Object value) {
        if (value != null) {
            settings.put(property, value.toString());
        }
    }

    private void check() {
        if (port != null && (port < 0 || port > 65_535)) {
            throw new ParameterException(spec.commandLine(), "--port must be 0 to 65535, got " + port);
        }
        if (policies != null && !Files.isDirectory(policies)) {
            throw new ParameterException(spec.commandLine(), "--policies: there is no directory " + policies);
        }
        if (tokens != null && !Files.isRegularFile(tokens)) {
            throw new ParameterException(spec.commandLine(), "--tokens: there is no file " + tokens);
        }
    }

    private static String path(Path path) {
        return path.toAbsolutePath().normalize().toString();
    }

    private void say(String text) {
        spec.commandLine().getErr().println(text);
        spec.commandLine().getErr().flush();
    }
}
