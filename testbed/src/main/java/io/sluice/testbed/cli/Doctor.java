package io.sluice.testbed.cli;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Looks at what Sluice needs on this machine, one check at a time. None changes anything. */
final class Doctor {
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(3);
    private static final long COMMAND_SECONDS = 20;
    private static final int PINGS = 100;

    private static final Path SYSTEM_JDKS = Path.of("/usr/lib/jvm");
    private static final Check NO_SECOND_JDK =
            new Check("second jdk", State.NOTE, "none, and JAVA25_HOME is not set (it is optional: tests on JDK 25)");

    private Doctor() {}

    /** How a check came out. */
    enum State {
        GOOD,
        /** It works, but not as it should, or something optional is not there. */
        NOTE,
        /** Sluice does not work without it. */
        BAD;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** One check. */
    record Check(String name, State state, String detail) {}

    static Check jdk() {
        int version = Runtime.version().feature();
        return new Check(
                "jdk",
                version >= 17 ? State.GOOD : State.BAD,
                Runtime.version() + " in " + System.getProperty("java.home"));
    }

    /** A second JDK is for tests only. */
    static Check newerJdk() {
        String home = System.getenv("JAVA25_HOME");
        if (home != null) {
            boolean there = Files.isExecutable(Path.of(home, "bin", "javac"));
            return new Check("second jdk", there ? State.GOOD : State.NOTE, home + (there ? "" : " has no bin/javac"));
        }
        try (Stream<Path> homes = Files.list(SYSTEM_JDKS)) {
            String found = homes.filter(path -> !Files.isSymbolicLink(path))
                    .filter(path -> Files.isExecutable(path.resolve("bin/javac")))
                    .filter(path -> !path.equals(Path.of(System.getProperty("java.home"))))
                    .map(Path::toString)
                    .sorted()
                    .collect(Collectors.joining(", "));
            return found.isEmpty() ? NO_SECOND_JDK : new Check("second jdk", State.GOOD, found);
        } catch (IOException noSuchDirectory) {
            return NO_SECOND_JDK;
        }
    }

    static Check maven() {
        String answer = answerOf("mvn", "-v");
        Matcher version =
                Pattern.compile("Apache Maven (\\d+)\\.(\\d+)\\.(\\d+)").matcher(answer);
        if (!version.find()) {
            return new Check("maven", State.BAD, "mvn does not answer: building needs Maven 3.8.7 or newer");
        }
        int number = 0;
        for (int i = 1; i <= 3; i++) {
            number = number * 1000 + Integer.parseInt(version.group(i));
        }
        return number >= 3_008_007
                ? new Check("maven", State.GOOD, version.group())
                : new Check("maven", State.BAD, version.group() + ", needed is 3.8.7 or newer");
    }

    /** Starts a Redis as tests and the demo do, and ends it. */
    static Check ownRedis() {
        try (RedisServer redis = RedisServers.start()) {
            return new Check(
                    "redis for tests",
                    State.GOOD,
                    redis.version() + " from " + redis.backend().name().toLowerCase(Locale.ROOT));
        } catch (IllegalStateException e) {
            return new Check("redis for tests", State.BAD, String.valueOf(e.getMessage()));
        }
    }

    static Check docker() {
        String version = answerOf("docker", "version", "--format", "{{.Server.Version}}");
        return version.isEmpty()
                ? new Check("docker", State.NOTE, "does not answer (it is optional)")
                : new Check("docker", State.GOOD, "engine " + version);
    }

    static Check port(int port) {
        try {
            new ServerSocket(port, 1, InetAddress.getLoopbackAddress()).close();
            return new Check("port " + port, State.GOOD, "free");
        } catch (IOException e) {
            return new Check("port " + port, State.NOTE, "taken: the server's --port chooses another");
        }
    }

    /** What Sluice asks of the Redis it keeps budgets in. */
    static List<Check> redis(RedisURI uri) {
        uri.setTimeout(REDIS_TIMEOUT);
        RedisClient client = RedisClient.create(uri);
        try (StatefulRedisConnection<String, String> connection = client.connect()) {
            RedisCommands<String, String> redis = connection.sync();
            String info = redis.info();
            return List.of(version(info), eviction(info), latency(redis));
        } catch (RedisException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            return List.of(new Check("redis", State.BAD, "does not answer: " + cause.getMessage()));
        } finally {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        }
    }

    /** Whether a server answers and is ready to be asked. */
    static Check server(URI server) {
        HttpRequest asked = HttpRequest.newBuilder(server.resolve("actuator/health/readiness"))
                .timeout(REDIS_TIMEOUT)
                .build();
        try {
            int status = HttpClient.newBuilder()
                    .connectTimeout(REDIS_TIMEOUT)
                    .build()
                    .send(asked, HttpResponse.BodyHandlers.discarding())
                    .statusCode();
            return status == 200
                    ? new Check("server", State.GOOD, "ready at " + server)
                    : new Check("server", State.BAD, "not ready: " + server + " answers " + status);
        } catch (IOException e) {
            return new Check("server", State.BAD, "nobody answers at " + server);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Check("server", State.BAD, "interrupted before " + server + " answered");
        }
    }

    private static Check version(String info) {
        String valkey = field(info, "valkey_version");
        if (!valkey.isEmpty()) {
            return new Check("redis", State.GOOD, "Valkey " + valkey);
        }
        String version = field(info, "redis_version");
        boolean old = version.matches("[1-6]\\..*");
        return new Check("redis", old ? State.BAD : State.GOOD, version + (old ? ", needed is 7.0 or newer" : ""));
    }

    private static Check eviction(String info) {
        String policy = field(info, "maxmemory_policy");
        return policy.equals("noeviction")
                ? new Check("redis eviction", State.GOOD, policy)
                : new Check(
                        "redis eviction",
                        State.NOTE,
                        policy + ": a full Redis may evict budgets; set maxmemory-policy noeviction");
    }

    private static Check latency(RedisCommands<String, String> redis) {
        long[] ns = LongStream.range(0, PINGS)
                .map(i -> {
                    long start = System.nanoTime();
                    redis.ping();
                    return System.nanoTime() - start;
                })
                .sorted()
                .toArray();
        double medianMs = ns[PINGS / 2] / 1e6;
        double worstMs = ns[PINGS - 1] / 1e6;
        String detail = String.format(Locale.ROOT, "ping %.2f ms in the middle, %.2f ms at worst", medianMs, worstMs);
        return new Check("redis latency", medianMs < 20 ? State.GOOD : State.NOTE, detail);
    }

    private static String field(String info, String name) {
        Matcher matcher =
                Pattern.compile("(?m)^" + Pattern.quote(name) + ":(.*?)\\r?$").matcher(info);
        return matcher.find() ? matcher.group(1) : "";
    }

    /** The stdout of a command without colours, or nothing if it fails or takes too long. */
    private static String answerOf(String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            process.getOutputStream().close();
            boolean ended = process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS);
            if (!ended || process.exitValue() != 0) {
                process.destroyForcibly();
                return "";
            }
            String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return text.replaceAll("\u001B\\[[0-9;]*m", "").strip();
        } catch (IOException notThere) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }
}
