package io.sluice.testbed.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ServerBenchTest {
    private static final BenchReport.Place PLACE =
            new BenchReport.Place("./sluice bench server", Instant.EPOCH, "7.0.15", "17", 2, 5, 1.0);

    private static Reached start(double... seconds) {
        return new Reached("s until ready", Bound.atMost(5), Spread.of(seconds), 1, "processor time 4.0 s");
    }

    @Test
    void theMedianIsJudged() {
        assertThat(new ServerReport(PLACE, List.of(start(9, 4, 3))).met()).isTrue();
        assertThat(new ServerReport(PLACE, List.of(start(4, 4, 4), start(6, 6, 4))).met())
                .isFalse();
    }

    @Test
    void peopleAndProgramsReadTheSame() {
        ServerReport report = new ServerReport(PLACE, List.of(start(6, 5.5, 7)));
        assertThat(report.toTable())
                .contains("`./sluice bench server`")
                .contains("| s until ready | ≤ 5 | 6.0 (5.5..7.0) | missed by 20.0 % | processor time 4.0 s |");
        JsonNode json = JsonMapper.shared().readTree(report.toJson());
        assertThat(json.at("/reached/0/measured/median").asDouble()).isEqualTo(6);
        assertThat(json.at("/reached/0/met").asBoolean()).isFalse();
        assertThat(json.at("/met").asBoolean()).isFalse();
    }

    @Test
    void optionsOutOfTheirRangeAreNamed() {
        Path home = Path.of("..");
        assertThatThrownBy(() -> new ServerBenchOptions(home, Duration.ofMillis(1), 5, 10))
                .hasMessageContaining("seconds");
        assertThatThrownBy(() -> new ServerBenchOptions(home, Duration.ofSeconds(1), 0, 10))
                .hasMessageContaining("rounds");
        assertThatThrownBy(() -> new ServerBenchOptions(home, Duration.ofSeconds(1), 5, 0))
                .hasMessageContaining("waiters");
    }

    @Test
    void oneConnectionServesManyRequests() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            String told = exchange.getRequestMethod() + " "
                    + exchange.getRequestHeaders().getFirst("Authorization") + " "
                    + exchange.getRemoteAddress().getPort() + " "
                    + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            byte[] body = told.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(201, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        try (Keepalive connection = new Keepalive(uri, "slc_x")) {
            Keepalive.Reply first = connection.send("POST", "/a", "{}");
            assertThat(first.status()).isEqualTo(201);
            assertThat(first.body()).startsWith("POST Bearer slc_x ").endsWith(" {}");
            assertThat(connection.send("POST", "/b", "{}").body())
                    .as("from the same port")
                    .isEqualTo(first.body());
        } finally {
            server.stop(0);
        }
    }
}
