package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Who comes in and what they may do. */
@WithRedis
@ExtendWith(OutputCaptureExtension.class)
class SecurityIT {
    private static final String ROOT = token("root");
    private static final String TEAM_ADMIN = token("team-admin");
    private static final String VIEWER = token("viewer");
    private static final String AGENT = token("agent");
    private static final String CALL = "\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1";

    @TempDir
    static Path directory;

    private static Path file;
    private static Started server;
    private static String project;
    private static Http root;

    private static String token(String seed) {
        return "slc_" + hash("seed " + seed);
    }

    private static String hash(String text) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private static String tokens() {
        return """
                tokens:
                  - {name: root, sha256: %s, role: admin, projects: ["*"]}
                  - {name: team-admin, sha256: %s, role: admin, projects: ["s-*"]}
                  - {name: viewer, sha256: %s, role: viewer, projects: ["s-*"]}
                  - {name: agent, sha256: %s, role: agent, projects: ["s-*"], team: research, workspace: prod,
                     max_priority: normal, agent_prefix: "r/"}
                """.formatted(hash(ROOT), hash(TEAM_ADMIN), hash(VIEWER), hash(AGENT));
    }

    @BeforeAll
    static void start() throws IOException {
        file = directory.resolve("tokens.yaml");
        Files.writeString(file, tokens());
        server = Started.on(RedisServers.shared().uri(), "--sluice.tokens=" + file, "--sluice.failures-per-minute=5");
        root = server.http.with(ROOT);
        project = Policies.installed(root, "{rpm: 6000, concurrency: 50}");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static String at(String rest) {
        return "/v1/projects/" + project + rest;
    }

    @Test
    void rolesMayDoWhatTheyAreFor() {
        Http viewer = server.http.with(VIEWER);
        Http agent = server.http.with(AGENT);
        for (String seen :
                new String[] {"", "/versions", "/status", "/usage", "/plan?input_per_minute=1&requests_per_minute=1"}) {
            assertThat(viewer.get(at(seen)).status()).as("viewer GET %s", seen).isEqualTo(200);
            assertThat(agent.get(at(seen)).kind()).as("agent GET %s", seen).isEqualTo("forbidden");
            assertThat(agent.get(at(seen)).status()).isEqualTo(403);
        }
        assertThat(viewer.put(at(""), Policies.of(project, "{rpm: 60}")).status())
                .isEqualTo(403);
        assertThat(viewer.delete(at("")).status()).isEqualTo(403);
        assertThat(viewer.post(at("/hold"), "{\"reason\":\"x\"}").status()).isEqualTo(403);
        assertThat(viewer.post("/v1/hold", "{\"reason\":\"x\"}").status()).isEqualTo(403);
        assertThat(viewer.post(at("/levels"), "{\"limit\":\"rpm\",\"to\":1,\"reason\":\"x\"}")
                        .status())
                .isEqualTo(403);
        assertThat(viewer.post(at("/permits"), "{" + CALL + "}").status()).isEqualTo(403);
        assertThat(agent.post(at("/permits"), "{" + CALL + ",\"agent\":\"r/1\"}")
                        .status())
                .isEqualTo(201);
        assertThat(viewer.get("/actuator/prometheus").status())
                .as("metrics tell of all projects")
                .isEqualTo(403);
        assertThat(root.get("/actuator/prometheus").status()).isEqualTo(200);
        assertThat(viewer.get("/v1/projects/other/status").status()).isEqualTo(403);
    }

    @Test
    void anAgentIsWhoItsTokenSays() {
        Http agent = server.http.with(AGENT);
        String mine = CALL + ",\"agent\":\"r/2\"";
        assertThat(agent.post(at("/permits"), "{" + CALL + "}").kind()).isEqualTo("forbidden");
        assertThat(agent.post(at("/permits"), "{" + CALL + ",\"agent\":\"x/2\"}")
                        .status())
                .isEqualTo(403);
        assertThat(agent.post(at("/permits"), "{" + mine + ",\"team\":\"ops\"}").status())
                .isEqualTo(403);
        assertThat(agent.post(at("/permits"), "{" + mine + ",\"workspace\":\"dev\"}")
                        .status())
                .isEqualTo(403);
        assertThat(agent.post(at("/permits"), "{" + mine + ",\"priority\":\"interactive\"}")
                        .status())
                .isEqualTo(403);
        assertThat(agent.post(at("/permits"), "{" + mine + ",\"priority\":\"batch\",\"team\":\"research\"}")
                        .status())
                .isEqualTo(201);
        await().atMost(10, TimeUnit.SECONDS)
                .until(() -> root.get(at("/status"))
                        .json()
                        .get("agents")
                        .valueStream()
                        .anyMatch(one -> one.get("agent").asString().equals("r/2")
                                && one.get("team").asString().equals("research")));
    }

    /** Each provider has an address of its own, where the policy writes none. */
    @Test
    void anotherProviderIsAnotherUpstream() {
        Http admin = server.http.with(TEAM_ADMIN);
        String mine = Policies.installed(root, "{rpm: 600}");
        String address = "/v1/projects/" + mine;
        String moved = Policies.of(mine, "{rpm: 600}").replace("anthropic", "openai");
        assertThat(admin.put(address, moved).kind()).isEqualTo("forbidden");
        assertThat(admin.put(address + "?dry_run=true", moved).kind()).isEqualTo("forbidden");
        assertThat(admin.get(address).body()).contains("anthropic");
        assertThat(root.put(address, moved).status()).isEqualTo(200);
        assertThat(admin.post(address + "/rollback", "{\"to\":1}").kind()).isEqualTo("forbidden");
        assertThat(admin.put(address, moved + "upstream: https://api.openai.com\n")
                        .status())
                .as("where its calls go already")
                .isEqualTo(200);
    }

    @Test
    void onlyAnAdminOfAllMakesProjectsAndSetsUpstream() {
        Http admin = server.http.with(TEAM_ADMIN);
        String other = Policies.id();
        assertThat(admin.put("/v1/projects/" + other, Policies.of(other, "{rpm: 60}"))
                        .kind())
                .isEqualTo("forbidden");
        String mine = Policies.installed(root, "{rpm: 600}");
        assertThat(admin.put("/v1/projects/" + mine, Policies.of(mine, "{rpm: 601}"))
                        .status())
                .isEqualTo(200);
        String moved = Policies.of(mine, "{rpm: 602}") + "upstream: https://api.openai.com\n";
        assertThat(admin.put("/v1/projects/" + mine, moved).kind()).isEqualTo("forbidden");
        assertThat(root.put("/v1/projects/" + mine, moved).status()).isEqualTo(200);
        for (int version : new int[] {1, 2}) {
            assertThat(admin.post("/v1/projects/" + mine + "/rollback", "{\"to\":" + version + "}")
                            .kind())
                    .as("back to version %s, which names no upstream", version)
                    .isEqualTo("forbidden");
        }
        assertThat(admin.post("/v1/projects/" + mine + "/rollback", "{\"to\":99}")
                        .kind())
                .isEqualTo("unknown_version");
        assertThat(root.post("/v1/projects/" + mine + "/rollback", "{\"to\":1}").status())
                .isEqualTo(200);
        assertThat(admin.post("/v1/projects/" + mine + "/rollback", "{\"to\":3}")
                        .kind())
                .as("back to the version whose upstream somebody else set")
                .isEqualTo("forbidden");
        assertThat(admin.post("/v1/projects/" + mine + "/rollback", "{\"to\":2}")
                        .status())
                .isEqualTo(200);
        assertThat(root.put("/v1/projects/" + mine, moved).status()).isEqualTo(200);
        assertThat(root.get("/v1/projects/" + mine + "/versions")
                        .json()
                        .get("versions")
                        .get(0)
                        .get("who")
                        .asString())
                .isEqualTo("root");
        assertThat(admin.get("/v1/projects")
                        .json()
                        .get("projects")
                        .valueStream()
                        .map(one -> one.get("project").asString()))
                .allMatch(name -> name.startsWith("s-"));
    }

    @Test
    void whatIsNotThereAndWhatIsNoAddressIsToldAsAProblem() {
        assertThat(root.get("/v1/nothing").kind()).isEqualTo("not_found");
        assertThat(root.get("/v1/projects/").kind()).isEqualTo("not_found");
        assertThat(server.http.with(TEAM_ADMIN).get("/v1/nothing").kind()).isEqualTo("forbidden");
        for (String odd :
                new String[] {"/v1/projects/a%2Fb", "/v1/projects/a;x=1", "/v1//projects", "/js/..%2f..%2fx"}) {
            assertThat(root.get(odd).kind()).as(odd).isEqualTo("invalid");
        }
        assertThat(root.send("FROB", "/v1/me", null).kind()).isEqualTo("invalid");
        assertThat(server.http
                        .delete("/v1/projects/" + project + "/waits/a%2Fb")
                        .status())
                .as("an escaped slash is no way in")
                .isEqualTo(401);
        assertThat(server.http.with(VIEWER).delete(at("/waits/a%2F..%2Fstatus")).status())
                .isIn(400, 403);
    }

    @Test
    void whoIsUnknownIsToldSoAndAfterAWhileToWait(CapturedOutput output) {
        assertThat(server.http.get(at("/status")).status()).isEqualTo(401);
        assertThat(server.http.get(at("/status")).header("www-authenticate")).isEqualTo("Bearer");
        Http nobody = server.http.with(token("nobody"));
        Reply last = null;
        for (int i = 0; i < 8; i++) {
            last = nobody.get(at("/status"));
            assertThat(last.kind()).isEqualTo(i < 5 ? "unauthenticated" : "too_many_failures");
        }
        assertThat(last.status()).isEqualTo(429);
        assertThat(Integer.parseInt(last.header("retry-after"))).isBetween(1, 60);
        assertThat(root.get(at("/status")).status())
                .as("who is known is not locked out")
                .isEqualTo(200);
        assertThat(server.http
                        .post("/v1/login", "{\"token\":\"" + token("nobody") + "\"}")
                        .status())
                .isEqualTo(429);
        assertThat(output.getAll()).doesNotContain("slc_", hash(ROOT));
    }

    @Test
    void thePageLogsInForACookieThatOnlyItsOwnPageCanUse() {
        Reply in = server.http.post("/v1/login", "{\"token\":\"" + ROOT + "\"}");
        assertThat(in.status()).isEqualTo(204);
        assertThat(in.header("set-cookie")).contains("HttpOnly", "SameSite=Strict", "Path=/");
        String cookie = in.header("set-cookie").split(";", 2)[0];
        String here = "http://127.0.0.1:" + server.port;
        assertThat(server.http
                        .get("/v1/me", "Cookie", cookie)
                        .json()
                        .get("name")
                        .asString())
                .isEqualTo("root");
        String hold = "{\"for_ms\":1,\"reason\":\"x\"}";
        assertThat(server.http.post(at("/hold"), hold, "Cookie", cookie).status())
                .as("no Origin")
                .isEqualTo(403);
        assertThat(server.http
                        .post(at("/hold"), hold, "Cookie", cookie, "Origin", "http://evil.example")
                        .status())
                .isEqualTo(403);
        assertThat(server.http
                        .post(at("/hold"), hold, "Cookie", cookie, "Origin", "null")
                        .status())
                .isEqualTo(403);
        assertThat(server.http
                        .post(at("/hold"), hold, "Cookie", cookie, "Origin", here)
                        .status())
                .isEqualTo(200);
        root.delete(at("/hold"));
        Reply out = server.http.delete("/v1/login", "Cookie", cookie, "Origin", here);
        assertThat(out.header("set-cookie")).contains("Max-Age=0");
    }

    @Test
    void aTokenThatIsAddedOrTakenAwayIsSoWithoutARestart() throws IOException {
        String added = token("added");
        Http late = server.http.with(added);
        Files.writeString(
                file, tokens() + "  - {name: late, sha256: " + hash(added) + ", role: viewer, projects: [\"*\"]}\n");
        await().atMost(20, TimeUnit.SECONDS)
                .pollInterval(1, TimeUnit.SECONDS)
                .until(() -> late.get("/v1/me").status() == 200);
        Files.writeString(file, "tokens: [{name: broken}]");
        Files.writeString(file, tokens());
        await().atMost(20, TimeUnit.SECONDS)
                .pollInterval(1, TimeUnit.SECONDS)
                .until(() -> late.get("/v1/me").status() != 200);
        assertThat(root.get("/v1/me").status()).isEqualTo(200);
    }

    @Test
    void answersCarryTheHeadersThatKeepPagesSafe() {
        Reply page = server.http.get("/v3/api-docs");
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.header("x-content-type-options")).isEqualTo("nosniff");
        assertThat(page.header("x-frame-options")).isEqualTo("DENY");
        assertThat(page.header("referrer-policy")).isEqualTo("no-referrer");
        assertThat(page.header("content-security-policy"))
                .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'");
        assertThat(page.json().get("paths").propertyNames())
                .contains(
                        "/v1/projects/{project}/permits",
                        "/v1/projects/{project}/usage",
                        "/v1/projects/{project}/waits/{id}");
        assertThat(page.body()).contains("max_output_tokens").doesNotContain("maxOutputTokens");
    }

    @Test
    void withoutTokensOnlyThisMachineIsServed() throws IOException {
        Started open = Started.shared();
        assertThat(open.http.get("/v1/me").json().get("role").asString()).isEqualTo("admin");
        assertThat(open.http.get("/v1/me", "Origin", "http://evil.example").status())
                .isEqualTo(403);
        assertThat(raw(open.port, "evil.example")).startsWith("HTTP/1.1 403");
        assertThat(raw(open.port, "localhost")).startsWith("HTTP/1.1 200");
        for (NetworkInterface network : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            for (InetAddress address : Collections.list(network.getInetAddresses())) {
                if (!address.isLoopbackAddress()) {
                    assertThatThrownBy(() -> new Socket(address, open.port).close())
                            .isInstanceOf(IOException.class);
                }
            }
        }
        assertThatThrownBy(() -> Started.on(RedisServers.shared().uri(), "--server.address=0.0.0.0"))
                .hasStackTraceContaining("no tokens are configured");
    }

    /** The password of a misspelt address stood in the log of the start, under a stack trace. */
    @Test
    void aSettingWithWhichItDoesNotStartIsToldWithoutASecretOrAStackTrace(CapturedOutput output) throws IOException {
        assertThatThrownBy(() -> Started.on("redis://user:secretpw@host:99999999"))
                .hasStackTraceContaining("sluice.redis and its like: not the address of a Redis");
        Path wrong = Files.writeString(directory.resolve("wrong.yaml"), "tokens: [{name: x, sha256: " + ROOT + "}]");
        assertThatThrownBy(() -> Started.on(RedisServers.shared().uri(), "--sluice.tokens=" + wrong))
                .hasStackTraceContaining("sluice.tokens: tokens[0]");
        assertThat(output.getAll())
                .contains("APPLICATION FAILED TO START", "tokens[0]")
                .doesNotContain("secretpw", ROOT, "\tat io.sluice");
    }

    private static String raw(int port, String host) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write(("GET /v1/me HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            byte[] start = new byte[12];
            int read = socket.getInputStream().readNBytes(start, 0, start.length);
            return new String(Arrays.copyOf(start, read), StandardCharsets.US_ASCII);
        }
    }
}
