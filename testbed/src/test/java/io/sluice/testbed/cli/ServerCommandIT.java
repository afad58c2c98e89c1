package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./sluice server} as a process, as people run it. */
@Timeout(300)
class ServerCommandIT {
    private static final Duration START = Duration.ofMinutes(3);
    private static final Duration STOP = Duration.ofSeconds(60);
    private static final String TOKEN = "slc_" + "5".repeat(64);

    @TempDir
    private Path directory;

    /**
     * The environment of its caller was thrown away in silence: a server that was to have tokens ran open. And its address was told
     * before anybody listened there, with the port 0.
     */
    @Test
    void runsInItsCallersEnvironmentTellsWhereOnceItIsReadyAndLeavesNothingBehind() throws Exception {
        Path tokens = tokens();
        Path policies = Files.createDirectories(directory.resolve("policies"));
        Files.writeString(policies.resolve("acme.yaml"), "{project: acme, provider: generic, limits: {rpm: 60}}");
        Map<String, String> environment = Map.of(
                "SLUICE_TOKENS",
                tokens.toString(),
                // What is said on the command line goes before both.
                "SERVER_PORT",
                "1",
                "SPRING_APPLICATION_JSON",
                "{\"sluice\": {\"policies\": \"/nowhere\", \"open-metrics\": true}, \"server.port\": 2}");
        List<ProcessHandle> children;
        int redis;
        try (Launched server =
                Launched.start(directory, environment, "server", "--port", "0", "--policies", policies.toString())) {
            URI at = URI.create(server.awaitErr("dashboard and API at (http://localhost:\\d+/)\\n", START)
                    .group(1));
            assertThat(at.getPort()).isPositive();
            assertThat(get(at.resolve("actuator/health/readiness"), "").statusCode())
                    .isEqualTo(200);
            assertThat(get(at.resolve("actuator/prometheus"), "").statusCode()).isEqualTo(200);
            assertThat(get(at.resolve("v1/projects"), "").statusCode()).isEqualTo(401);
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(
                                    get(at.resolve("v1/projects"), TOKEN).body())
                            .contains("\"project\":\"acme\""));

            redis = Integer.parseInt(server.awaitErr("one was started at redis://127\\.0\\.0\\.1:(\\d+)", STOP)
                    .group(1));
            assertThat(accepts(redis)).isTrue();
            children = server.children();
            assertThat(children).hasSizeGreaterThanOrEqualTo(2);
            server.terminate();
            server.awaitEnd(STOP);
            assertThat(server.out()).contains("Graceful shutdown complete");
            assertThat(server.err()).doesNotContain("sluice server: ");
        }
        await().atMost(STOP).until(() -> children.stream().noneMatch(ProcessHandle::isAlive));
        await().atMost(STOP).until(() -> !accepts(redis));
    }

    /** A server lives without its Redis: where it listens is told after a while, and once more when it is ready. */
    @Test
    void whileItsRedisDoesNotAnswerItTellsWhereItListensAndThatItIsReadyAfterwards() throws Exception {
        try (RedisServer redis = RedisServers.start()) {
            redis.pause();
            try (Launched server =
                    Launched.start(directory, Map.of("SLUICE_REDIS", redis.uri()), "server", "--port", "0")) {
                String address = server.awaitErr("it listens at (http://localhost:\\d+/) but is not ready yet", START)
                        .group(1);
                assertThat(server.err()).doesNotContain("dashboard", "one was started");
                redis.resume();
                assertThat(server.awaitErr("dashboard and API at (http://localhost:\\d+/)\\n", START)
                                .group(1))
                        .isEqualTo(address);
            }
        }
    }

    @Test
    void saysWhyWhereItEndsBeforeItIsReady() throws Exception {
        try (Launched server = Launched.start(
                directory,
                Map.of("SERVER_ADDRESS", "0.0.0.0"),
                "server",
                "--port",
                "0",
                "--redis",
                "redis://127.0.0.1:1")) {
            assertThat(server.awaitEnd(START)).isEqualTo(3);
            assertThat(server.err())
                    .contains("the server ended before it was ready; it said last")
                    .contains("server.address is 0.0.0.0, which others can reach")
                    .doesNotContain("dashboard");
        }
    }

    private Path tokens() throws IOException, NoSuchAlgorithmException {
        String hash = HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(TOKEN.getBytes(StandardCharsets.US_ASCII)));
        return Files.writeString(
                directory.resolve("tokens.yaml"),
                "tokens: [{name: operator, sha256: " + hash + ", role: admin, projects: [\"*\"]}]\n");
    }

    private static HttpResponse<String> get(URI at, String token) throws IOException, InterruptedException {
        HttpRequest.Builder question = HttpRequest.newBuilder(at).timeout(Duration.ofSeconds(10));
        if (!token.isEmpty()) {
            question.header("Authorization", "Bearer " + token);
        }
        return HttpClient.newHttpClient().send(question.build(), BodyHandlers.ofString());
    }

    private static boolean accepts(int port) {
        try (Socket there = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return there.isConnected();
        } catch (IOException nobody) {
            return false;
        }
    }
}
