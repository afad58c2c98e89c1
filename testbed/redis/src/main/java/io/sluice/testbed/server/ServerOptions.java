package io.sluice.testbed.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How a server is started.
 *
 * @param jar the whole server, or one unpacked from it
 * @param jvm arguments of the JVM
 * @param settings by their property names, such as {@code sluice.redis}
 */
public record ServerOptions(Path jar, List<String> jvm, Map<String, String> settings) {

    /** A small JVM that starts soon, for what lives a minute. */
    private static final List<String> SMALL = List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    public ServerOptions {
        jvm = List.copyOf(jvm);
        settings = Map.copyOf(settings);
    }

    /** On a free port of loopback, over this Redis. */
    public static ServerOptions of(Path jar, String redis) {
        return new ServerOptions(jar, SMALL, Map.of("server.port", "0", "sluice.redis", redis));
    }

    /** The same with one more setting, or another. */
    public ServerOptions with(String property, String value) {
        Map<String, String> more = new LinkedHashMap<>(settings);
        more.put(property, value);
        return new ServerOptions(jar, jvm, more);
    }

    /** The same with other arguments of the JVM. */
    public ServerOptions withJvm(String... arguments) {
        return new ServerOptions(jar, List.of(arguments), settings);
    }

    /**
     * The server that was built in this working copy.
     *
     * @param home the directory of the whole project
     * @throws IllegalStateException it has not been built
     */
    public static Path builtIn(Path home) {
        Path target = home.resolve("limiter-server").resolve("target");
        if (Files.isDirectory(target)) {
            try (Stream<Path> files = Files.list(target)) {
                List<Path> jars = files.filter(
                                file -> file.getFileName().toString().matches("sluice-server-.*-app\\.jar"))
                        .toList();
                if (jars.size() == 1) {
                    return jars.get(0).toAbsolutePath().normalize();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        throw new IllegalStateException(
                "no server in " + target + ": mvn -pl limiter-server -am package -DskipTests makes one");
    }

    /**
     * It as a process to be, for tests and fleets: the same whatever the environment of whoever starts it says of servers. Its settings
     * are in the environment, not in the list of processes.
     */
    public ProcessBuilder process() {
        ProcessBuilder builder = new ProcessBuilder(command());
        builder.environment().keySet().removeIf(name -> name.startsWith("SLUICE_") || name.startsWith("SERVER_"));
        builder.environment().put("SPRING_APPLICATION_JSON", json());
        return builder;
    }

    /**
     * It as a process to be, for people: all that their environment says counts, where these settings do not say otherwise. They
     * are arguments, which go before everything else and stand in the list of processes: nothing that is secret.
     */
    public ProcessBuilder processOfTheCaller() {
        List<String> command = command();
        settings.forEach((property, value) -> command.add("--" + property + "=" + value));
        return new ProcessBuilder(command);
    }

    private List<String> command() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvm);
        if (Runtime.version().feature() >= 24) {
            // What Netty does by design; from 24 on the JVM warns about it.
            command.add("--sun-misc-unsafe-memory-access=allow");
        }
        command.addAll(List.of("-jar", jar.toString()));
        return command;
    }

    /** One variable, whatever the properties are called; the list of processes does not show it. */
    private String json() {
        return settings.entrySet().stream()
                .map(setting -> quoted(setting.getKey()) + ":" + quoted(setting.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static String quoted(String text) {
        if (text.chars().anyMatch(c -> c < ' ')) {
            throw new IllegalArgumentException("a setting has a control character");
        }
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}
