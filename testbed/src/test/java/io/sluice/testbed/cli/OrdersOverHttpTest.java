package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code policy}, {@code hold} and {@code release} as calls of a server's API: what is sent, and what is made of the answers. */
class OrdersOverHttpTest {
    private static final String POLICY = "project: acme\nclasses: [{name: c, models: [\"m-*\"]}]\n";

    @TempDir
    private Path directory;

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private HttpServer server;
    private String url;
    private volatile int status = 200;
    private volatile String body = "{}";

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        url = "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void aPolicyIsAppliedAndReadThroughAServer() throws IOException {
        Path file = Files.writeString(directory.resolve("acme.yaml"), POLICY);
        body = "{\"version\": 8, \"same\": false, \"changes\": [], \"warnings\": []}";
        assertThat(run("policy", "apply", file.toString())).isZero();
        assertThat(said()).isEqualTo("acme: version 8 is in force");

        body = "{\"project\":\"acme\",\"classes\":[{\"name\":\"c\",\"models\":[\"m-*\"]}]}";
        assertThat(run("policy", "get", "acme", "--json")).isZero();
        assertThat(said()).isEqualTo("{\"project\":\"acme\",\"version\":7,\"policy\":" + body + "}");
        assertThat(asked)
                .containsExactly(
                        "PUT /v1/projects/acme {\"project\":\"acme\",\"classes\":[{\"name\":\"c\",\"models\":[\"m-*\"]}]}",
                        "GET /v1/projects/acme ");
    }

    @Test
    void aProjectIsHeldAndReleasedThroughAServer() {
        body = "{\"project\": \"acme\", \"scope\": \"c:sonnet\", \"for_ms\": 30000}";
        assertThat(run("hold", "acme", "--class", "sonnet", "--for", "30s", "--reason", "looking \"into\" it"))
                .isZero();
        assertThat(said()).isEqualTo("acme, class sonnet is on hold for 30 s: looking \"into\" it");
        body = "{\"project\": \"acme\", \"scope\": \"p\", \"for_ms\": null}";
        assertThat(run("hold", "--project", "acme", "--reason", "x")).isZero();
        assertThat(said()).isEqualTo("acme is on hold until it is released: x");

        body = "{\"project\": \"acme\", \"released\": true}";
        assertThat(run("release", "acme", "--class", "a/b", "--json")).isZero();
        assertThat(said()).isEqualTo("{\"project\":\"acme\",\"scope\":\"c:a/b\",\"released\":true}");
        body = "{\"project\": \"acme\", \"released\": false}";
        assertThat(run("release", "acme")).isZero();
        assertThat(said()).isEqualTo("acme was not on hold, nothing to release");
        assertThat(asked)
                .containsExactly(
                        "POST /v1/projects/acme/hold {\"scope\":\"c:sonnet\",\"reason\":\"looking \\\"into\\\" it\",\"for_ms\":30000}",
                        "POST /v1/projects/acme/hold {\"scope\":\"p\",\"reason\":\"x\"}",
                        "DELETE /v1/projects/acme/hold?scope=c%3Aa%2Fb ",
                        "DELETE /v1/projects/acme/hold ");
    }

    @Test
    void whatTheServerFindsWrongIsSaidInItsWords() throws IOException {
        Path file = Files.writeString(directory.resolve("acme.yaml"), POLICY);
        status = 400;
        body = "{\"kind\": \"invalid_policy\", \"detail\": \"1 problem(s), nothing was changed\", \"problems\": "
                + "[{\"path\": \"/upstream\", \"line\": 1, \"message\": \"its host must be on the list\"}]}";
        assertThat(run("policy", "apply", file.toString())).isEqualTo(1);
        assertThat(errors()).isEqualTo(file + ": /upstream: its host must be on the list\n");
        assertThat(run("policy", "apply", file.toString(), "--json")).isEqualTo(1);
        assertThat(said()).contains("\"valid\":false").contains("\"path\":\"/upstream\"");
        status = 409;
        body = "{\"kind\": \"managed_by_file\", \"detail\": \"this project is set by the file acme.yaml\"}";
        assertThat(run("policy", "apply", file.toString())).isEqualTo(2);
        assertThat(errors()).contains("set by the file acme.yaml");
        status = 403;
        body = "{\"kind\": \"forbidden\", \"detail\": \"this token may not\"}";
        assertThat(run("release", "acme")).isEqualTo(3);
        assertThat(errors()).contains("this token may not");
        assertThat(run("hold", "acme", "--project", "other", "--reason", "x")).isEqualTo(2);
        assertThat(errors()).contains("acme and other");
        assertThat(run("hold", "--reason", "x")).isEqualTo(2);
        assertThat(errors()).contains("name the project");
    }

    private void answer(HttpExchange exchange) throws IOException {
        String sent = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " " + sent);
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("ETag", "\"7\"");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private int run(String... words) {
        String[] args = new String[words.length + 2];
        System.arraycopy(words, 0, args, 0, words.length);
        args[words.length] = "--server";
        args[words.length + 1] = url;
        return Main.run(new PrintWriter(out), new PrintWriter(err), args);
    }

    private String said() {
        String text = out.toString().strip();
        out.getBuffer().setLength(0);
        assertThat(err.toString()).isEmpty();
        return text;
    }

    private String errors() {
        String text = err.toString();
        err.getBuffer().setLength(0);
        assertThat(text.lines()).hasSize(1);
        return text;
    }
}
