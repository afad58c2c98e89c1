package io.sluice.server.outside;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import io.sluice.testbed.server.ServerOptions;
import io.sluice.testbed.server.ServerProcess;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Logs that a program reads: one JSON object a line, as {@code docs/server.md} says how to have them. */
@WithRedis
@Timeout(180)
class LogsIT {
    private static final String POLICY = """
            {"project": "logged", "provider": "generic",
             "classes": [{"name": "m", "models": ["*"], "limits": {"rpm": 60}}]}""";

    @Test
    void everyLineIsAnObjectThatSaysWhenWhoAndWhat(RedisServer redis) throws Exception {
        ServerOptions options = ServerOptions.of(ServerOptions.builtIn(Path.of("..")), redis.uri())
                .with("logging.structured.format.console", "ecs");
        try (ServerProcess server = ServerProcess.start(options)) {
            HttpRequest put = HttpRequest.newBuilder(server.uri().resolve("/v1/projects/logged"))
                    .header("Content-Type", "application/json")
                    .PUT(BodyPublishers.ofString(POLICY))
                    .build();
            assertThat(HttpClient.newHttpClient()
                            .send(put, BodyHandlers.discarding())
                            .statusCode())
                    .isEqualTo(200);

            List<JsonNode> lines = server.said()
                    .lines()
                    .filter(line -> !line.isBlank())
                    .map(line -> JsonMapper.shared().readTree(line))
                    .toList();
            assertThat(lines).isNotEmpty().allSatisfy(line -> {
                assertThat(line.path("@timestamp").asString("")).isNotEmpty();
                assertThat(line.at("/log/level").asString("")).isNotEmpty();
                assertThat(line.path("message").asString("")).isNotEmpty();
            });
            assertThat(lines)
                    .filteredOn(line -> line.at("/log/logger").asString("").equals("io.sluice.audit"))
                    .extracting(line -> line.path("message").asString())
                    .anySatisfy(audit -> assertThat(audit).startsWith("local set project logged: version 1"));
        }
    }
}
