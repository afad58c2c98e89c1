package io.sluice.testbed.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.netty.ChannelBindException;
import tools.jackson.databind.JsonNode;

/** Calls that come, go and leave, over real sockets: nothing may be lost from the accounts. */
@Tag("smoke")
@Timeout(60)
class EmulatorTest {

    @Test
    void aClientThatHangsUpFreesItsSlot() throws IOException {
        for (boolean stream : List.of(true, false)) {
            try (Emulator emulator = Emulator.start(Client.options("concurrency=1"))) {
                Client client = new Client(emulator);
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), emulator.port())) {
                    String body = Client.body(stream);
                    String head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: " + body.length()
                            + "\r\nx-emulate-agent: leaver\r\nx-emulate-output-tokens: 3000\r\n"
                            + "x-emulate-duration-ms: 30000\r\n\r\n";
                    socket.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
                    await().until(() -> client.stats().path("output_tokens").asLong() > 0);
                    assertThat(client.message(false).statusCode()).isEqualTo(429);
                }

                await().until(() -> client.stats().path("in_flight").asLong() == 0);

                JsonNode last = client.log(0).get(2);
                assertThat(last.path("event").asString()).isEqualTo("aborted");
                assertThat(last.path("agent").asString()).isEqualTo("leaver");
                assertThat(last.path("output").asLong())
                        .isBetween(1L, 2_999L)
                        .isEqualTo(client.stats().path("output_tokens").asLong());
            }
        }
    }

    @Test
    void whoHasSeenTheEndOfAnAnswerNeverMeetsItsOwnSlot() {
        Client.with("concurrency=1", client -> {
            for (int i = 0; i < 200; i++) {
                HttpResponse<String> answer = client.message(i % 2 == 0, "x-emulate-duration-ms", "0");
                assertThat(answer.statusCode()).isEqualTo(200);
            }
        });
    }

    @Test
    void runsHundredsOfStreamsAtOnceAndAccountsForEach() {
        Client.with("rpm=10000", client -> {
            List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                answers.add(client.messageAsync(
                        true,
                        "x-emulate-agent",
                        "agent-" + i,
                        "x-emulate-input-tokens",
                        "10",
                        "x-emulate-output-tokens",
                        "30",
                        "x-emulate-duration-ms",
                        "3000"));
            }
            for (CompletableFuture<HttpResponse<String>> answer : answers) {
                assertThat(answer.join().body()).endsWith("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
            }

            JsonNode stats = client.stats();
            List<JsonNode> log = client.log(0);
            assertThat(stats.path("accepted").asLong()).isEqualTo(300);
            assertThat(stats.path("finished").asLong()).isEqualTo(300);
            assertThat(stats.path("peak_in_flight").asLong()).isBetween(250L, 300L);
            assertThat(stats.path("input_tokens").asLong()).isEqualTo(3_000);
            assertThat(stats.path("output_tokens").asLong()).isEqualTo(9_000);
            assertThat(stats.at("/worst_minute/output").asLong()).isEqualTo(9_000);
            assertThat(log).hasSize(600);
            assertThat(log.stream()
                            .mapToLong(line -> line.path("output").asLong())
                            .sum())
                    .isEqualTo(9_000);
            assertThat(log.stream().map(line -> line.path("agent").asString()).distinct())
                    .hasSize(300);
        });
    }

    @Test
    void theLogIsReadFromWhereTheReaderStands() {
        Client.with("rpm=2", client -> {
            HttpResponse<String> first = client.message(false, "x-emulate-duration-ms", "0", "x-emulate-agent", "a b");
            client.message(false, "x-emulate-duration-ms", "0");
            client.message(false);

            assertThat(client.log(0)).hasSize(5);
            assertThat(client.log(0).get(0).path("id").asString()).isEqualTo(Client.header(first, "request-id"));
            assertThat(client.log(4)).hasSize(1).first().satisfies(line -> {
                assertThat(line.path("seq").asLong()).isEqualTo(5);
                assertThat(line.path("event").asString()).isEqualTo("rejected");
                assertThat(line.path("kind").asString()).isEqualTo("requests");
                assertThat(line.path("status").asInt()).isEqualTo(429);
            });
            assertThat(client.log(5)).isEmpty();
            assertThat(client.get("/_log?since=x").statusCode()).isEqualTo(400);
            assertThat(client.get("/_other").statusCode()).isEqualTo(404);
        });
    }

    @Test
    void resetIsRefusedWhileCallsAreInFlight() {
        Client.with("rpm=1", client -> {
            CompletableFuture<HttpResponse<String>> running =
                    client.messageAsync(true, "x-emulate-output-tokens", "1", "x-emulate-duration-ms", "300");
            await().until(() -> client.stats().path("in_flight").asLong() == 1);
            assertThat(client.post("/_reset", "").statusCode()).isEqualTo(409);
            running.join();

            assertThat(client.post("/_reset", "").statusCode()).isEqualTo(204);

            assertThat(client.message(false, "x-emulate-duration-ms", "0").statusCode())
                    .isEqualTo(200);
            assertThat(client.stats().path("accepted").asLong()).isEqualTo(1);
        });
    }

    @Test
    void closingCutsAnswersShort() {
        Emulator emulator = Emulator.start(Client.options("rpm=1"));
        Client client = new Client(emulator);
        CompletableFuture<HttpResponse<String>> running = client.messageAsync(true, "x-emulate-duration-ms", "60000");
        await().until(() -> client.stats().path("in_flight").asLong() == 1);

        emulator.close();

        await().atMost(Duration.ofSeconds(5)).until(running::isCompletedExceptionally);
    }

    @Test
    void aTakenPortIsAnError() {
        try (Emulator emulator = Emulator.start(Client.options("rpm=1"))) {
            assertThatThrownBy(() -> Emulator.start(Client.options("rpm=1").listen("127.0.0.1", emulator.port())))
                    .isInstanceOf(ChannelBindException.class);
        }
    }
}
