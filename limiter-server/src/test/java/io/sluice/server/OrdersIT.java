package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds are released as far as was meant, and no further. */
@Tag("contract")
@WithRedis
class OrdersIT {
    private static final String CALL = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1}";

    private final Http http = Started.shared().http;
    private final String project = Policies.installed(http, "{rpm: 6000}");
    private final String at = "/v1/projects/" + project;

    /** It was not read: whoever named a class as for the hold released everything. */
    @Test
    void aBodyNamesWhatIsReleasedAsItNamesWhatIsHeld() {
        held("{\"class\":\"sonnet\",\"reason\":\"x\"}");
        held("{\"reason\":\"x\"}");
        assertThat(release("{\"class\":\"sonnet\"}").json().get("released").asBoolean())
                .isTrue();
        assertThat(scopes()).containsExactly("p");
        assertThat(release("{\"class\":\"sonnet\"}").json().get("released").asBoolean())
                .isFalse();
        assertThat(scopes()).containsExactly("p");
        assertThat(release("{\"scope\":\"p\"}").status()).isEqualTo(200);
        assertThat(scopes()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "null",
                "[]",
                "{\"class\":null}",
                "{\"clas\":\"sonnet\"}",
                "{\"class\":\"sonnet\",\"reason\":\"x\"}",
                "{\"class\":7}",
                "{\"team\":\"a\",\"agent\":\"b\"}",
                "sonnet"
            })
    void aBodyThatNamesNoScopeReleasesNothing(String body) {
        held("{\"class\":\"sonnet\",\"reason\":\"x\"}");
        assertThat(release(body).status()).as(body).isEqualTo(400);
        assertThat(http.send("DELETE", "/v1/hold", body).status()).as(body).isEqualTo(400);
        assertThat(scopes()).containsExactly("c:sonnet");
    }

    @Test
    void oneThatIsNamedTwiceOrForAllOrAtLengthReleasesNothing() {
        held("{\"class\":\"sonnet\",\"reason\":\"x\"}");
        String named = "{\"class\":\"sonnet\"}";
        assertThat(http.send("DELETE", at + "/hold?team=research", named).status())
                .isEqualTo(400);
        assertThat(http.send("DELETE", at + "/hold?class=sonnet", named).status())
                .isEqualTo(400);
        assertThat(http.send("DELETE", at + "/hold?class=", null).status()).isEqualTo(400);
        assertThat(http.send("DELETE", "/v1/hold", named).status()).isEqualTo(400);
        assertThat(release(named + " ".repeat(1 << 20)).kind()).isEqualTo("too_large");
        assertThat(scopes()).containsExactly("c:sonnet");
        assertThat(http.delete(at + "/hold").status()).isEqualTo(200);
        assertThat(scopes()).isEmpty();
    }

    /** Clients send {@code {}} with any method; what the address says is what is done. */
    @Test
    void aBodyChangesNothingOfWhatTheOtherDeletesMean() {
        String first = permit(project);
        String second = permit(project);
        assertThat(http.send("DELETE", at, "{\"drain\":true}").kind()).isEqualTo("permits_live");
        assertThat(http.send("DELETE", at + "/permits/" + first, "{\"permit\":\"" + second + "\"}")
                        .status())
                .isEqualTo(200);
        assertThat(http.send("DELETE", at + "/waits/none", "{\"agent\":\"a\"}").status())
                .isEqualTo(404);
        assertThat(http.post(at + "/permits/" + second + "/renew", "").status()).isEqualTo(200);
        http.delete(at + "/permits/" + second);
    }

    @Test
    void allIsWhatTheCallerCoversAndNothingElse(@TempDir Path directory) throws IOException {
        String token = Secured.token("of-some");
        String rootToken = Secured.token("of-all");
        Path file = directory.resolve("tokens.yaml");
        String some = "o-" + Policies.id();
        Files.writeString(file, """
                tokens:
                  - {name: all, sha256: %s, role: admin, projects: ["*"]}
                  - {name: some, sha256: %s, role: admin, projects: ["%s-*"]}
                """.formatted(Secured.hash(rootToken), Secured.hash(token), some));
        try (Started server = Started.on(RedisServers.shared().uri(), "--sluice.tokens=" + file)) {
            Http root = server.http.with(rootToken);
            Http operator = server.http.with(token);
            for (String mine : List.of(some + "-1", some + "-2")) {
                assertThat(root.put("/v1/projects/" + mine, Policies.of(mine, "{rpm: 600}"))
                                .status())
                        .isEqualTo(200);
            }
            Reply holds = operator.post("/v1/hold", "{\"reason\":\"lunch\"}");
            assertThat(holds.status()).as(holds.body()).isEqualTo(200);
            assertThat(projects(holds)).containsExactlyInAnyOrder(some + "-1", some + "-2");
            assertThat(root.post("/v1/projects/" + some + "-1/permits", CALL).kind())
                    .isEqualTo("hold");
            assertThat(root.post("/v1/projects/" + some + "-2/permits", CALL).kind())
                    .isEqualTo("hold");
            permit(project);
            held("{\"reason\":\"not theirs\"}");
            assertThat(projects(operator.delete("/v1/hold"))).containsExactlyInAnyOrder(some + "-1", some + "-2");
            assertThat(root.post("/v1/projects/" + some + "-1/permits", CALL).status())
                    .isEqualTo(201);
            assertThat(root.post("/v1/projects/" + some + "-2/permits", CALL).status())
                    .isEqualTo(201);
            assertThat(scopes()).as("of another's").containsExactly("p");
        }
    }

    private static List<String> projects(Reply reply) {
        return reply.json()
                .valueStream()
                .map(one -> one.get("project").asString())
                .toList();
    }

    private String permit(String of) {
        Reply granted = http.post("/v1/projects/" + of + "/permits", CALL);
        assertThat(granted.status()).as(granted.body()).isEqualTo(201);
        return granted.json().get("permit").asString();
    }

    private void held(String order) {
        Reply held = http.post(at + "/hold", order);
        assertThat(held.status()).as(held.body()).isEqualTo(200);
    }

    private Reply release(String body) {
        return http.send("DELETE", at + "/hold", body);
    }

    private List<String> scopes() {
        return http.get(at + "/status")
                .json()
                .get("holds")
                .valueStream()
                .map(hold -> hold.get("scope").asString())
                .toList();
    }
}
