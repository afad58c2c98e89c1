package io.sluice.server.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisCommandExecutionException;
import io.sluice.Call;
import io.sluice.Permit;
import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.server.outside.Api.Answered;
import io.sluice.testbed.redis.RedisOptions;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.server.ServerOptions;
import io.sluice.testbed.server.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The Redis of {@code k8s/}, with its configuration and its users as they stand there, and the server over it. */
@Timeout(300)
class ClusterRedisIT {
    private static final Path K8S = Path.of("..", "k8s");
    private static final YAMLMapper YAML = new YAMLMapper();

    @TempDir
    private Path directory;

    @Test
    void theServerAndTheAgentsMayDoWhatTheyNeedAndNobodyElse() throws IOException, InterruptedException {
        JsonNode secret = YAML.readTree(Files.readString(K8S.resolve("overlays/dev/secret-redis.yaml")))
                .path("stringData");
        Path acl = Files.writeString(
                directory.resolve("users.acl"), secret.path("users.acl").asString());
        JsonNode policies = YAML.readTree(Files.readString(K8S.resolve("base/configmap.yaml")))
                .path("data");
        Path files = Files.createDirectory(directory.resolve("policies"));
        policies.properties()
                .forEach(file ->
                        write(files.resolve(file.getKey()), file.getValue().asString()));

        try (RedisServer redis = RedisServers.startProcess(configured(acl));
                ServerProcess server = ServerProcess.start(
                        ServerOptions.of(ServerOptions.builtIn(Path.of("..")), "redis://127.0.0.1:" + redis.port())
                                .with("sluice.redis-user", "server")
                                .with(
                                        "sluice.redis-password",
                                        secret.path("server-password").asString())
                                .with("sluice.policies", files.toString()))) {
            Api api = new Api(Api.client(), server.uri(), "acme-prod");
            String ask = "{\"model\": \"claude-sonnet-5-5\", \"input_tokens\": 10, \"agent\": \"a\"}";
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(api.post("permits", ask).status())
                            .as("the policies of the ConfigMap are in force")
                            .isEqualTo(201));
            Answered granted = api.post("permits", ask);
            String permit = "permits/" + granted.body().path("permit").asString();
            assertThat(api.post(permit + "/renew", "").status()).isEqualTo(200);
            assertThat(api.post(permit + "/settle", "{}").body().path("ended").asString())
                    .isEqualTo("settled");
            assertThat(api.get("status").status()).isEqualTo(200);

            String agents = redis.uri("agents", secret.path("agents-password").asString());
            try (Sluice sluice = Sluice.connect(agents);
                    Permit beside = sluice.project("acme-prod")
                            .acquire(Call.of("claude-haiku-5").inputTokens(10), Duration.ofSeconds(10))) {
                assertThat(beside.modelClass()).isEqualTo("haiku");
                assertThatThrownBy(() -> sluice.install(Policy.parse(
                                policies.path("acme-prod.yaml").asString().replace("rpm: 4000", "rpm: 9999"))))
                        .as("agents set no budgets")
                        .hasMessageContaining("policy");
            }
            assertThatThrownBy(() -> redis.command("get", "x"))
                    .isInstanceOf(RedisCommandExecutionException.class)
                    .hasMessageContaining("NOPERM");
            // Whatever a user lacks is said there, with its name.
            assertThat(server.said())
                    .doesNotContain("lacks rights")
                    .doesNotContain("NOPERM")
                    .doesNotContain("may not");
        }
    }

    /** The lines of its {@code redis.conf}, but for where its files are. */
    private static RedisOptions configured(Path acl) throws IOException {
        String conf = YAML.readTree(Files.readString(K8S.resolve("redis/configmap.yaml")))
                .at("/data/redis.conf")
                .asString();
        List<String> arguments = new ArrayList<>();
        conf.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .forEach(line -> {
                    String name = line.substring(0, line.indexOf(' '));
                    String value = line.substring(name.length() + 1).replace("\"", "");
                    if (!name.equals("dir")) {
                        arguments.add("--" + name);
                        arguments.add(name.equals("aclfile") ? acl.toString() : value);
                    }
                });
        assertThat(arguments).contains("noeviction", "--appendonly", "--aclfile");
        return RedisOptions.DEFAULT.with(arguments.toArray(String[]::new));
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
