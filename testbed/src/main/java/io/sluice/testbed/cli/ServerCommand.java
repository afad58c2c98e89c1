package io.sluice.testbed.cli;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.server.ServerOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

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
            "Without --tokens it listens on loopback only. Every other setting is an environment variable of Spring Boot's, given "
                    + "in SPRING_APPLICATION_JSON; docs/server.md lists them."
        })
final class ServerCommand implements Callable<Integer> {
    /** A little more than the server gives to answers that are under way. */
    private static final long STOP_SECONDS = 40;

    @Spec
    private CommandSpec spec;

    @Option(names = "--port", paramLabel = "N", defaultValue = "8080", description = "default ${DEFAULT-VALUE}")
    private int port;

    @Option(
            names = "--redis",
            paramLabel = "URI",
            defaultValue = "${env:SLUICE_REDIS}",
            description =
                    "where the budgets are; default $$SLUICE_REDIS, else a Redis that is started for it and forgotten with it")
    private @Nullable String redis;

    @Option(
            names = "--policies",
            paramLabel = "DIR",
            description = "a directory of policy files, installed and watched")
    private @Nullable Path policies;

    @Option(names = "--tokens", paramLabel = "FILE", description = "who may call, by the SHA-256 of their tokens")
    private @Nullable Path tokens;

    @Override
    public Integer call() throws IOException, InterruptedException {
        check();
        if (redis != null) {
            return run(redis);
        }
        try (RedisServer own = RedisServers.start()) {
            say("no --redis: one was started at " + own.uri() + "; what it holds is gone when this ends");
            return run(own.uri());
        }
    }

    private int run(String uri) throws IOException, InterruptedException {
        ServerOptions options = new ServerOptions(
                        ServerOptions.builtIn(Home.directory()), java.util.List.of(), Map.of("sluice.redis", uri))
                .with("server.port", String.valueOf(port));
        options = policies == null ? options : options.with("sluice.policies", path(policies));
        options = tokens == null ? options : options.with("sluice.tokens", path(tokens));
        Process server = options.process().inheritIO().start();
        // Our end is its end, but not before it has told those who wait.
        Thread onExit = new Thread(() -> stop(server));
        Runtime.getRuntime().addShutdownHook(onExit);
        say("dashboard and API at http://localhost:" + port + "/");
        int exit = server.waitFor();
        return exit == 0 ? ExitCode.GOOD : ExitCode.ENVIRONMENT;
    }

    private void check() {
        if (port < 0 || port > 65_535) {
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

    private static void stop(Process server) {
        server.destroy();
        try {
            if (!server.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                server.destroyForcibly();
            }
        } catch (InterruptedException e) {
            server.destroyForcibly();
        }
    }

    private void say(String text) {
        spec.commandLine().getErr().println(text);
        spec.commandLine().getErr().flush();
    }
}
