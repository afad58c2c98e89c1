package io.sluice.testbed.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Over real sockets, with a client that knows only HTTP. */
@Tag("smoke")
@Timeout(60)
class AnthropicTest {

    @Test
    void aMessageHasTheRealOnesShapeAndTheStatedUsage() {
        Client.with("rpm=1000,itpm=2000000,otpm=400000", client -> {
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
            assertThat(Client.header(answer, "content-type")).isEqualTo("application/json");
            assertThat(Client.header(answer, "anthropic-ratelimit-requests-remaining"))
                    .isEqualTo("999");
            assertThat(Client.header(answer, "anthropic-ratelimit-input-tokens-remaining"))
                    .isEqualTo("1998000");
            assertThat(Client.header(answer, "anthropic-ratelimit-tokens-limit"))
                    .isEqualTo("2400000");
            assertThat(Instant.parse(Client.header(answer, "anthropic-ratelimit-input-tokens-reset")))
                    .isBefore(Instant.now().plusSeconds(5));
        });
    }

    @Test
    void whatIsNotStatedIsReadFromTheRequest() {
        Client.with("rpm=10", client -> {
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
        Client.with("rpm=10", client -> {
            HttpResponse<String> answer = client.message(
                    true,
                    "x-emulate-input-tokens",
                    "25",
                    "x-emulate-output-tokens",
                    "15",
                    "x-emulate-duration-ms",
                    "320");

            List<JsonNode> events = events(answer.body());
            assertThat(Client.header(answer, "content-type")).startsWith("text/event-stream");
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
        Client.with("rpm=2", client -> {
            for (int i = 0; i < 2; i++) {
                client.message(false, "x-emulate-duration-ms", "0");
            }
            HttpResponse<String> rejected = client.message(false);

            assertRejected(rejected, "rate limit of 2 requests per minute", "429_requests.json");
            assertThat(Integer.parseInt(Client.header(rejected, "retry-after"))).isBetween(29, 30);
            assertThat(Client.header(rejected, "anthropic-ratelimit-requests-remaining"))
                    .isEqualTo("0");
        });
        Client.with("rpm=50,itpm=30000,otpm=8000", client -> {
            client.message(false, "x-emulate-input-tokens", "30000", "x-emulate-duration-ms", "0");
            HttpResponse<String> rejected = client.message(false, "x-emulate-input-tokens", "6000");

            assertRejected(rejected, "rate limit of 30,000 input tokens per minute", "429_input_tokens.json");
            assertThat(Integer.parseInt(Client.header(rejected, "retry-after"))).isBetween(11, 12);
            assertThat(Client.header(rejected, "anthropic-ratelimit-input-tokens-remaining"))
                    .isEqualTo("0");
            assertThat(rejected.headers().map().keySet()).containsAll(Samples.headerNames("429_input_tokens.headers"));
        });
        Client.with("otpm=60", client -> {
            client.message(false, "x-emulate-output-tokens", "90", "x-emulate-duration-ms", "10");
            HttpResponse<String> rejected = client.message(false);

            assertRejected(rejected, "rate limit of 60 output tokens per minute", "429_input_tokens.json");
            assertThat(Integer.parseInt(Client.header(rejected, "retry-after"))).isBetween(29, 31);
        });
        Client.with("concurrency=0", client -> {
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
        assertThat(body.path("request_id").asString()).isEqualTo(Client.header(answer, "request-id"));
    }

    @Test
    void otherPathsAndBadRequestsAreAnsweredInTheProvidersShape() {
        Client.with("rpm=1", client -> {
            assertError(client.get("/v1/nothing"), 404, "not_found_error", "");
            assertError(client.get("/v1/messages"), 405, "invalid_request_error", "");
            assertError(client.post("/v1/messages", "{"), 400, "invalid_request_error", "not valid JSON");
            assertError(client.post("/v1/messages", "{}"), 400, "invalid_request_error", "model: Field required");
            assertError(
                    client.post("/v1/messages", "{\"model\":\"m\"}"),
                    400,
                    "invalid_request_error",
                    "max_tokens: Field");
            for (String cap : List.of("0", "-1", "1.5", "\"9\"", "1000000001", "9".repeat(30))) {
                assertError(
                        client.post("/v1/messages", "{\"model\":\"m\",\"max_tokens\":" + cap + "}"),
                        400,
                        "invalid_request_error",
                        "max_tokens: must be 1 to");
            }
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
        Client.with("rpm=0", client -> {
            JsonNode count = json(client.post("/v1/messages/count_tokens", Client.body(false)));
            assertThat(Samples.shape(count)).isEqualTo(Samples.shape(Samples.json("count_tokens.json")));
            assertThat(count.path("input_tokens").asLong()).isBetween(1L, 10L);
            assertThat(json(client.get("/v1/models")).at("/data/0/type").asString())
                    .isEqualTo("model");
        });
    }

    private static JsonNode json(HttpResponse<String> answer) {
        return Samples.JSON.readTree(answer.body());
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
