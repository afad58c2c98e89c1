package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.sluice.Call;
import io.sluice.Decision;
import io.sluice.Permit;
import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code status} and {@code plan}: of a Redis itself, and over HTTP. */
class StatusCommandIT {
    private static RedisServer redis;
    private static Sluice sluice;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void start() {
        redis = RedisServers.start();
        sluice = Sluice.connect(redis.uri());
        sluice.install(Policy.parse("""
                project: acme
                provider: anthropic
                classes:
                  - {name: sonnet, models: ["claude-sonnet-*"], limits: {itpm: 2000000, concurrency: 4}}
                """));
        sluice.install(Policy.parse("{project: other, provider: generic, limits: {rpm: 60}}"));
    }

    @AfterAll
    static void stop() {
        sluice.close();
        redis.close();
    }

    @Test
    void aProjectIsToldOnOnePageAndAsTheApiHasIt() {
        try (Permit permit =
                ((Decision.Granted) sluice.project("acme").tryAcquire(Call.of("claude-sonnet-5-5"))).permit()) {
            assertThat(run("status", "acme", "--redis", redis.uri())).isZero();
            assertThat(said())
                    .startsWith("acme  v1  enforce\nnobody waits\n")
                    .containsPattern("class sonnet +concurrency +█████░+ +25 % +3 of 4")
                    .containsPattern("class sonnet +itpm ");

            assertThat(run("status", "acme", "--json", "--redis", redis.uri())).isZero();
            JsonNode status = JsonMapper.shared().readTree(said());
            assertThat(status.path("in_flight").path("c:sonnet").asInt()).isEqualTo(1);
            assertThat(status.path("limits").size()).isEqualTo(2);
            permit.cancel();
        }
    }

    @Test
    void withoutANameEveryProjectHasALine() {
        assertThat(run("status", "--redis", redis.uri())).isZero();
        assertThat(said().lines())
                .hasSize(3)
                .anySatisfy(line -> assertThat(line).matches("acme +v1 .*"))
                .anySatisfy(line -> assertThat(line).matches("other +v1 .*rpm, project"));
    }

    @Test
    void thePlanIsRoundedDownAndNamesWhatBinds() {
        assertThat(run("plan", "acme", "--class", "sonnet", "--input-per-minute", "30000", "--redis", redis.uri()))
                .isZero();
        assertThat(said()).startsWith("46 agents at 70 %, 53 at 80 % of what binds first: itpm of class sonnet");

        assertThat(run("plan", "acme", "--in-flight", "0.5", "--json", "--redis", redis.uri()))
                .isZero();
        JsonNode plan = JsonMapper.shared().readTree(said());
        assertThat(plan.path("agents_at_80").asInt()).isEqualTo(6);
        assertThat(plan.path("binding").asString()).isEqualTo("concurrency");
        assertThat(plan.path("source").asString()).isEqualTo("given");
    }

    @Test
    void whatCannotBeToldIsSaidInOneLine() {
        assertThat(run("plan", "acme", "--redis", redis.uri())).isEqualTo(2);
        assertThat(errors()).contains("no agent was seen");
        assertThat(run("plan", "acme", "--class", "opus", "--in-flight", "1", "--redis", redis.uri()))
                .isEqualTo(2);
        assertThat(errors()).contains("no class opus");
        assertThat(run("status", "nobody", "--redis", redis.uri())).isEqualTo(2);
        assertThat(errors()).contains("nobody");
        assertThat(run("status", "acme", "--server", "ftp://x", "--redis", redis.uri()))
                .isEqualTo(2);
        assertThat(run("status", "acme", "--server", "not a url")).isEqualTo(2);
        assertThat(run("plan", "acme", "--in-flight", "-1", "--redis", redis.uri()))
                .isEqualTo(2);
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aServerIsAskedWithTheTokenOfTheFileAndItsOwnWordsAreSaid(@TempDir Path directory) throws IOException {
        List<String> asked = new CopyOnWriteArrayList<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> answer(exchange, asked));
        server.start();
        String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/sluice";
        Path token = Files.writeString(directory.resolve("token"), "slc_secret\n");
        try {
            assertThat(run("status", "--server", url, "--token-file", token.toString()))
                    .isZero();
            assertThat(said()).startsWith("acme  v7  enforce\nnobody waits");
            assertThat(run("plan", "acme", "--class", "a/b", "--server", url, "--token-file", token.toString()))
                    .isEqualTo(2);
            assertThat(errors()).contains("the policy has no class a/b").doesNotContain("slc_secret");
            assertThat(asked)
                    .containsExactly(
                            "/sluice/v1/projects Bearer slc_secret",
                            "/sluice/v1/projects/acme/status Bearer slc_secret",
                            "/sluice/v1/projects/acme/plan?class=a%2Fb Bearer slc_secret");
        } finally {
            server.stop(0);
        }
        assertThat(run("status", "acme", "--server", url)).isEqualTo(3);
        assertThat(errors()).contains("nobody answers at " + url);
    }

    private static void answer(HttpExchange exchange, List<String> asked) throws IOException {
        String path = exchange.getRequestURI().toString();
        asked.add(path + " " + exchange.getRequestHeaders().getFirst("Authorization"));
        boolean plan = path.contains("/plan");
        String body = plan
                ? "{\"kind\": \"unknown_class\", \"detail\": \"the policy has no class a/b\"}"
                : path.endsWith("/status")
                        ? "{\"version\": 7, \"mode\": \"enforce\", \"waiters\": 0, \"limits\": [], \"waiting\": []}"
                        : "{\"projects\": [{\"project\": \"acme\", \"version\": 7}]}";
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(plan ? 422 : 200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private int run(String... words) {
        return Main.run(new PrintWriter(out), new PrintWriter(err), words);
    }

    private String said() {
        String text = out.toString();
        out.getBuffer().setLength(0);
        return text;
    }

    private String errors() {
        String text = err.toString();
        err.getBuffer().setLength(0);
        assertThat(text.lines()).hasSize(1);
        return text;
    }
}
