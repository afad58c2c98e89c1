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
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.netty.ChannelBindException;
import tools.jackson.databind.JsonNode;

/** Over real sockets, with a client that knows only HTTP. */
@Tag("smoke")
@Timeout(60)
class EmulatorTest {

    @Test
    void aMessageHasTheRealOnesShapeAndTheStatedUsage() {
        with("rpm=1000,itpm=2000000,otpm=400000", client -> {
            HttpResponse<String> answer = client.message(
                    false,
                    "x-emulate-input-tokens",
                    "50",
                    "x-emulate-cache-read-tokens",
                    "198000",
                    "x-emulate-cache-write-tokens",
                    "2048",
                    "x-emulate-output-tokens",
                    "120",
                    "x-emulate-duration-ms",
                    "20");

            JsonNode message = json(answer);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(Samples.shape(Samples.json("200_message.json"))).containsAll(Samples.shape(message));
            assertThat(message.at("/usage/input_tokens").asLong()).isEqualTo(50);
            assertThat(message.at("/usage/cache_creation_input_tokens").asLong())
                    .isEqualTo(2_048);
            assertThat(message.at("/usage/cache_read_input_tokens").asLong()).isEqualTo(198_000);
            assertThat(message.at("/usage/output_tokens").asLong()).isEqualTo(120);
            assertThat(message.at("/content/0/text").asString()).hasSize(480);
            assertThat(header(answer, "content-type")).isEqualTo("application/json");
            assertThat(header(answer, "anthropic-ratelimit-requests-remaining")).isEqualTo("999");
            assertThat(header(answer, "anthropic-ratelimit-input-tokens-remaining"))
                    .isEqualTo("1998000");
            assertThat(header(answer, "anthropic-ratelimit-tokens-limit")).isEqualTo("2400000");
            assertThat(Instant.parse(header(answer, "anthropic-ratelimit-input-tokens-reset")))
                    .isBefore(Instant.now().plusSeconds(5));
        });
    }

    @Test
    void whatIsNotStatedIsReadFromTheRequest() {
        with("rpm=10", client -> {
            String text = "x".repeat(4_000);
            String body = "{\"model\":\"m\",\"max_tokens\":7,\"system\":[{\"text\":\"" + text
                    + "\"}],\"messages\":[{\"content\":\"" + text + "\"}]}";

            JsonNode message = json(client.post("/v1/messages", body, "x-emulate-duration-ms", "1"));

            assertThat(message.at("/usage/input_tokens").asLong()).isBetween(2_000L, 2_010L);
            assertThat(message.at("/usage/output_tokens").asLong()).isEqualTo(7);
            assertThat(message.at("/stop_reason").asString()).isEqualTo("max_tokens");
        });
    }

    @Test
    void aStreamHasTheRealOnesOrderAndCumulativeUsage() {
        with("rpm=10", client -> {
            HttpResponse<String> answer = client.message(
                    true,
                    "x-emulate-input-tokens",
                    "25",
                    "x-emulate-output-tokens",
                    "15",
                    "x-emulate-duration-ms",
                    "320");

            List<JsonNode> events = events(answer.body());
            assertThat(header(answer, "content-type")).startsWith("text/event-stream");
            assertThat(events.stream().map(e -> e.path("type").asString()).distinct())
                    .containsExactlyInAnyOrderElementsOf(events(Samples.text("200_stream_basic.sse")).stream()
                            .map(e -> e.path("type").asString())
                            .toList());
            assertThat(events.stream().map(e -> e.path("type").asString()))
                    .containsExactly(
                            "message_start",
                            "content_block_start",
                            "ping",
                            "content_block_delta",
                            "content_block_delta",
                            "content_block_delta",
                            "content_block_stop",
                            "message_delta",
                            "message_stop");
            assertThat(events.get(0).at("/message/usage/input_tokens").asLong()).isEqualTo(25);
            assertThat(events.get(0).at("/message/usage/output_tokens").asLong())
                    .isEqualTo(1);
            assertThat(events.get(7).at("/usage/output_tokens").asLong()).isEqualTo(15);
            assertThat(events.stream()
                            .mapToInt(e -> e.at("/delta/text").asString("").length())
                            .sum())
                    .isEqualTo(60);
            JsonNode sample = events(Samples.text("200_stream_basic.sse")).get(0);
            assertThat(Samples.shape(events.get(0))).isEqualTo(Samples.shape(sample));
        });
    }

    @Test
    void aRejectionSaysWhichLimitAndHowLong() {
        with("rpm=2", client -> {
            for (int i = 0; i < 2; i++) {
                client.message(false, "x-emulate-duration-ms", "0");
            }
            HttpResponse<String> rejected = client.message(false);

            assertRejected(rejected, "rate limit of 2 requests per minute", "429_requests.json");
            assertThat(Integer.parseInt(header(rejected, "retry-after"))).isBetween(29, 30);
            assertThat(header(rejected, "anthropic-ratelimit-requests-remaining"))
                    .isEqualTo("0");
        });
        with("rpm=50,itpm=30000,otpm=8000", client -> {
            client.message(false, "x-emulate-input-tokens", "30000", "x-emulate-duration-ms", "0");
            HttpResponse<String> rejected = client.message(false, "x-emulate-input-tokens", "6000");

            assertRejected(rejected, "rate limit of 30,000 input tokens per minute", "429_input_tokens.json");
            assertThat(Integer.parseInt(header(rejected, "retry-after"))).isBetween(11, 12);
            assertThat(header(rejected, "anthropic-ratelimit-input-tokens-remaining"))
                    .isEqualTo("0");
            assertThat(rejected.headers().map().keySet()).containsAll(Samples.headerNames("429_input_tokens.headers"));
        });
        with("otpm=60", client -> {
            client.message(false, "x-emulate-output-tokens", "90", "x-emulate-duration-ms", "10");
            HttpResponse<String> rejected = client.message(false);

            assertRejected(rejected, "rate limit of 60 output tokens per minute", "429_input_tokens.json");
            assertThat(Integer.parseInt(header(rejected, "retry-after"))).isBetween(29, 31);
        });
        with("concurrency=0", client -> {
            HttpResponse<String> rejected = client.message(true);

            assertRejected(rejected, "Number of concurrent connections", "429_concurrency.json");
            assertThat(rejected.headers().firstValue("retry-after")).isEmpty();
        });
    }

    private static void assertRejected(HttpResponse<String> answer, String words, String sample) {
        JsonNode body = json(answer);
        assertThat(answer.statusCode()).isEqualTo(429);
        assertThat(Samples.shape(body)).isEqualTo(Samples.shape(Samples.json(sample)));
        assertThat(body.at("/error/type").asString()).isEqualTo("rate_limit_error");
        assertThat(body.at("/error/message").asString()).contains(words);
        assertThat(body.path("request_id").asString()).isEqualTo(header(answer, "request-id"));
    }

    @Test
    void otherPathsAndBadRequestsAreAnsweredInTheProvidersShape() {
        with("rpm=1", client -> {
            assertError(client.get("/v1/nothing"), 404, "not_found_error", "");
            assertError(client.get("/v1/messages"), 405, "invalid_request_error", "");
            assertError(client.post("/v1/messages", "{"), 400, "invalid_request_error", "not valid JSON");
            assertError(client.post("/v1/messages", "{}"), 400, "invalid_request_error", "model: Field required");
            assertError(
                    client.post("/v1/messages", "{\"model\":\"m\"}"),
                    400,
                    "invalid_request_error",
                    "max_tokens: Field");
            assertError(
                    client.message(false, "x-emulate-output-tokens", "-1"),
                    400,
                    "invalid_request_error",
                    "x-emulate-output-tokens");
            assertError(
                    client.post("/v1/messages", " ".repeat((32 << 20) + 1)), 413, "request_too_large", "maximum size");
            assertThat(client.stats().path("accepted").asLong()).isZero();
        });
    }

    private static void assertError(HttpResponse<String> answer, int status, String type, String words) {
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(Samples.shape(json(answer))).isEqualTo(Samples.shape(Samples.json("413_too_large.json")));
        assertThat(json(answer).at("/error/type").asString()).isEqualTo(type);
        assertThat(json(answer).at("/error/message").asString()).contains(words);
    }

    @Test
    void countingTokensAndListingModelsTakeNoLimits() {
        with("rpm=0", client -> {
            JsonNode count = json(client.post("/v1/messages/count_tokens", Client.body(false)));
            assertThat(Samples.shape(count)).isEqualTo(Samples.shape(Samples.json("count_tokens.json")));
            assertThat(count.path("input_tokens").asLong()).isBetween(1L, 10L);
            assertThat(json(client.get("/v1/models")).at("/data/0/type").asString())
                    .isEqualTo("model");
        });
    }

    @Test
    void aClientThatHangsUpFreesItsSlot() throws IOException {
        for (boolean stream : List.of(true, false)) {
            try (Emulator emulator = Emulator.start(options("concurrency=1"))) {
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
        with("concurrency=1", client -> {
            for (int i = 0; i < 200; i++) {
                HttpResponse<String> answer = client.message(i % 2 == 0, "x-emulate-duration-ms", "0");
                assertThat(answer.statusCode()).isEqualTo(200);
            }
        });
    }

    @Test
    void runsHundredsOfStreamsAtOnceAndAccountsForEach() {
        with("rpm=10000", client -> {
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
                        "2500"));
            }
            for (CompletableFuture<HttpResponse<String>> answer : answers) {
                assertThat(answer.join().body()).endsWith("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
            }

            JsonNode stats = client.stats();
            List<JsonNode> log = client.log(0);
            assertThat(stats.path("accepted").asLong()).isEqualTo(300);
            assertThat(stats.path("finished").asLong()).isEqualTo(300);
            assertThat(stats.path("peak_in_flight").asLong()).isEqualTo(300);
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
        with("rpm=2", client -> {
            HttpResponse<String> first = client.message(false, "x-emulate-duration-ms", "0", "x-emulate-agent", "a b");
            client.message(false, "x-emulate-duration-ms", "0");
            client.message(false);

            assertThat(client.log(0)).hasSize(5);
            assertThat(client.log(0).get(0).path("id").asString()).isEqualTo(header(first, "request-id"));
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
        with("rpm=1", client -> {
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
    void aTakenPortIsAnError() {
        try (Emulator emulator = Emulator.start(options("rpm=1"))) {
            assertThatThrownBy(() -> Emulator.start(options("rpm=1").listen("127.0.0.1", emulator.port())))
                    .isInstanceOf(ChannelBindException.class);
        }
    }

    @Test
    void closingCutsAnswersShort() {
        Emulator emulator = Emulator.start(options("rpm=1"));
        Client client = new Client(emulator);
        CompletableFuture<HttpResponse<String>> running = client.messageAsync(true, "x-emulate-duration-ms", "60000");
        await().until(() -> client.stats().path("in_flight").asLong() == 1);

        emulator.close();

        await().atMost(Duration.ofSeconds(5)).until(running::isCompletedExceptionally);
    }

    private static void with(String limits, Consumer<Client> test) {
        try (Emulator emulator = Emulator.start(options(limits))) {
            test.accept(new Client(emulator));
        }
    }

    private static EmulatorOptions options(String limits) {
        return EmulatorOptions.of("anthropic", Limits.parse(limits));
    }

    private static JsonNode json(HttpResponse<String> answer) {
        return Samples.JSON.readTree(answer.body());
    }

    private static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElse("(no " + name + ")");
    }

    /** The data of each event, after checking that its name is its type. */
    private static List<JsonNode> events(String sse) {
        List<JsonNode> events = new ArrayList<>();
        for (String event : sse.strip().split("\n\n", -1)) {
            String[] lines = event.split("\n", 2);
            JsonNode data = Samples.JSON.readTree(lines[1].substring("data: ".length()));
            assertThat(lines[0]).isEqualTo("event: " + data.path("type").asString());
            events.add(data);
        }
        return events;
    }
}
