package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A project has one budget, whoever asks: where limits went by key, an organisation made itself more of them (liwala/ay-framework#66). */
@WithRedis
class OneBudgetIT {
    private static final String CALL = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":10,\"lease_ms\":600000}";

    @Test
    void twoTokensAndOneThatTakesTheirPlaceMeanwhileDrawOnOneBudget(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("tokens.yaml");
        Files.writeString(file, tokens("one", "two"));
        try (Started server = Started.on(RedisServers.shared().uri(), "--sluice.tokens=" + file)) {
            Http root = server.http.with(Secured.token("root"));
            Http one = server.http.with(Secured.token("one"));
            Http two = server.http.with(Secured.token("two"));
            Http young = server.http.with(Secured.token("young"));
            String at = "/v1/projects/" + Policies.installed(root, "{concurrency: 3}");
            String permits = at + "/permits";
            assertThat(one.post(permits, CALL).status()).isEqualTo(201);
            assertThat(two.post(permits, CALL).status()).isEqualTo(201);

            Files.writeString(file, tokens("two", "young"));
            await().atMost(20, TimeUnit.SECONDS)
                    .pollInterval(1, TimeUnit.SECONDS)
                    .until(() -> young.get("/v1/me").status() == 200);
            assertThat(one.post(permits, CALL).status()).isEqualTo(401);
            assertThat(young.post(permits, CALL).status()).isEqualTo(201);

            assertThat(young.post(permits, CALL).kind()).isEqualTo("wait");
            assertThat(two.post(permits, CALL).kind()).isEqualTo("wait");
            assertThat(root.get(at + "/status").json().get("limits").valueStream())
                    .anyMatch(limit -> limit.get("scope").asString().equals("c:sonnet")
                            && limit.get("in_flight").asInt() == 3);
        }
    }

    private static String tokens(String one, String other) {
        return """
                tokens:
                  - {name: root, sha256: %s, role: admin, projects: ["*"]}
                  - {name: %s, sha256: %s, role: agent, projects: ["*"]}
                  - {name: %s, sha256: %s, role: agent, projects: ["*"]}
                """.formatted(
                        Secured.hash(Secured.token("root")),
                        one,
                        Secured.hash(Secured.token(one)),
                        other,
                        Secured.hash(Secured.token(other)));
    }
}
