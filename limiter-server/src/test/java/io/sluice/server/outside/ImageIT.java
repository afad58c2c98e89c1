package io.sluice.server.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.server.outside.Api.Answered;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The image: built as the Dockerfile says, run as Kubernetes runs it, asked for a permit. */
@WithRedis
@Timeout(600)
class ImageIT {
    private static final String BASE =
            Optional.ofNullable(System.getenv("SLUICE_JAVA_IMAGE")).orElse("eclipse-temurin:25-jre");
    private static final String IMAGE =
            "sluice-server:test-" + ProcessHandle.current().pid();
    private static final String PROJECT = "image";

    @Test
    void theContainerAnswersThePermitsApi(RedisServer redis) throws IOException {
        Program.needs("docker", "version");
        Program.needs("docker", "image", "inspect", BASE);
        if (!System.getProperty("os.name").equals("Linux")) {
            Program.skip("the container uses this host's network, which only Linux lends it");
        }
        try (Sluice sluice = Sluice.connect(redis.uri())) {
            sluice.install(Policy.parse("""
                    project: %s
                    provider: generic
                    classes: [{name: all, models: ["*"], limits: {rpm: 60}}]
                    """.formatted(PROJECT)));
        }
        String container = "sluice-test-" + ProcessHandle.current().pid();
        try {
            docker("build", "--quiet", "--build-arg", "JAVA_IMAGE=" + BASE, "--tag", IMAGE, "limiter-server");
            assertThat(docker("image", "inspect", "--format", "{{.Config.User}}", IMAGE))
                    .isEqualTo("10001:10001");
            int port = freePort();
            docker(
                    "run",
                    "--detach",
                    "--name=" + container,
                    "--network=host",
                    "--read-only",
                    "--tmpfs=/tmp",
                    "--cap-drop=ALL",
                    "--security-opt=no-new-privileges",
                    "--memory=512m",
                    "--env=SERVER_PORT=" + port,
                    "--env=SLUICE_REDIS=" + redis.uri(),
                    // An archive of classes that is not good for what it runs ends the start.
                    "--env=JAVA_TOOL_OPTIONS=-Xshare:on",
                    IMAGE);
            URI uri = URI.create("http://127.0.0.1:" + port);
            Api api = new Api(Api.client(), uri, PROJECT);
            await().atMost(Duration.ofMinutes(3))
                    .pollInterval(Duration.ofMillis(100))
                    .ignoreExceptions()
                    .untilAsserted(() -> assertThat(
                                    api.get("/actuator/health/readiness").status())
                            .isEqualTo(200));

            Answered granted = api.post("permits", "{\"model\": \"m\", \"input_tokens\": 10}");
            assertThat(granted.status()).as(granted::toString).isEqualTo(201);
            String permit = "permits/" + granted.body().path("permit").asString();
            Answered settled = api.post(permit + "/settle", "{\"usage\": {\"input_tokens\": 9}}");
            assertThat(settled.body().path("ended").asString())
                    .as(settled::toString)
                    .isEqualTo("settled");
        } finally {
            run("rm", "--force", container);
            run("image", "rm", "--force", IMAGE);
        }
    }

    private static String docker(String... arguments) {
        try (Program program = start(arguments)) {
            assertThat(program.end()).as(program::toString).isZero();
            return program.out().strip();
        }
    }

    private static void run(String... arguments) {
        try (Program program = start(arguments)) {
            int whatever = program.end();
            assertThat(whatever).isBetween(0, 255);
        }
    }

    private static Program start(String... arguments) {
        return Program.start(
                Path.of(".."),
                Map.of(),
                java.util.stream.Stream.concat(java.util.stream.Stream.of("docker"), java.util.Arrays.stream(arguments))
                        .toList());
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
