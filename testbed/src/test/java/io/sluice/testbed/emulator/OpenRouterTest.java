package io.sluice.testbed.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Over real sockets, with a client that knows only HTTP; the emulator's clock stands still. */
@Timeout(60)
class OpenRouterTest {
    private static final String CHAT = "/api/v1/chat/completions";
    private static final String[] SIZES = {
        "x-emulate-input-tokens", "74",
        "x-emulate-cache-read-tokens", "20",
        "x-emulate-cache-write-tokens", "100",
        "x-emulate-output-tokens", "40",
        "x-emulate-duration-ms", "300"
    };
    private static final String[] AT_ONCE = {"x-emulate-duration-ms", "0"};

    private final ManualTime time = new ManualTime();

    @Test
    void aCompletionHasTheRealOnesShapeItsCostAndNoLimitHeaders() {
        Client.with(options("rpm=20"), client -> {
            HttpResponse<String> answer = client.post(CHAT, body("vendor/model-example", false), SIZES);

            JsonNode completion = Client.json(answer);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(Samples.shape(completion)).isEqualTo(Samples.shape(Samples.json("openrouter/200_chat.json")));
            assertThat(completion.at("/usage/prompt_tokens").asLong()).isEqualTo(194);
            assertThat(completion
                            .at("/usage/prompt_tokens_details/cached_tokens")
                            .asLong())
                    .isEqualTo(20);
            assertThat(completion
                            .at("/usage/prompt_tokens_details/cache_write_tokens")
                            .asLong())
                    .isEqualTo(100);
            // 74 x 3 + 20 x 0.3 + 100 x 3.75 + 40 x 15 dollars a million
            assertThat(completion.at("/usage/cost").asDouble()).isEqualTo(0.001203);
            assertThat(answer.headers().map().keySet()).noneMatch(name -> name.startsWith("x-ratelimit"));
            assertThat(Client.header(answer, "x-generation-id"))
                    .isEqualTo(completion.path("id").asString());
        });
    }

    @Test
    void aStreamIsKeptAliveByCommentsAndAlwaysTellsUsage() {
        Client.with(options("rpm=20"), client -> {
            HttpResponse<String> answer = client.post(CHAT, body("vendor/model-example", true), SIZES);

            List<JsonNode> chunks = Client.data(answer);
            JsonNode last = chunks.get(chunks.size() - 1);
            assertThat(answer.body()).startsWith(": OPENROUTER PROCESSING\n\n").endsWith("data: [DONE]\n\n");
            assertThat(last.at("/choices/0/finish_reason").asString()).isEqualTo("stop");
            assertThat(last.at("/usage/completion_tokens").asLong()).isEqualTo(40);
            assertThat(last.at("/usage/cost").asDouble()).isEqualTo(0.001203);
            assertThat(chunks.subList(0, chunks.size() - 1)).hasSize(4).noneMatch(chunk -> chunk.has("usage"));
        });
    }

    @Test
    void freeModelsHaveAMinuteAndADay() {
        EmulatorOptions minute = options("rpm=1");
        Client.with(minute, client -> {
            client.post(CHAT, body("vendor/model:free", false), AT_ONCE);
            HttpResponse<String> rejected = client.post(CHAT, body("vendor/model:free", false));

            assertThat(rejected.statusCode()).isEqualTo(429);
            assertThat(message(rejected)).contains("free-models-per-min");
            assertThat(Client.header(rejected, "retry-after")).isEqualTo("60");
            assertHeaders(rejected, "1", time.instant().plusSeconds(60));
            assertThat(Samples.shape(Client.json(rejected)))
                    .containsAll(Samples.shape(Samples.json("openrouter/429_free_minute.json")));
        });
        Client.with(options("rpd=1"), client -> {
            client.post(CHAT, body("vendor/model:free", false), AT_ONCE);
            HttpResponse<String> rejected = client.post(CHAT, body("vendor/model:free", false));

            assertThat(message(rejected)).contains("free-models-per-day");
            assertThat(Client.json(rejected).at("/error/metadata/limit_source").asString())
                    .isEqualTo("openrouter_free_tier_daily");
            assertHeaders(rejected, "1", Instant.parse("2026-08-25T00:00:00Z"));
            assertThat(Samples.shape(Client.json(rejected)))
                    .isEqualTo(Samples.shape(Samples.json("openrouter/429_free_day.json")));
            assertThat(rejected.headers().firstValue("retry-after")).isEmpty();
        });
    }

    private static void assertHeaders(HttpResponse<String> answer, String limit, Instant reset) {
        String millis = Long.toString(reset.toEpochMilli());
        JsonNode copy = Client.json(answer).at("/error/metadata/headers");
        assertThat(Client.header(answer, "x-ratelimit-limit")).isEqualTo(limit);
        assertThat(Client.header(answer, "x-ratelimit-remaining")).isEqualTo("0");
        assertThat(Client.header(answer, "x-ratelimit-reset")).isEqualTo(millis);
        assertThat(copy.path("X-RateLimit-Limit").asString()).isEqualTo(limit);
        assertThat(copy.path("X-RateLimit-Remaining").asString()).isEqualTo("0");
        assertThat(copy.path("X-RateLimit-Reset").asString()).isEqualTo(millis);
    }

    @Test
    void paidModelsShareCapacity() {
        Client.with(options("rpm=1"), client -> {
            client.post(CHAT, body("vendor/model-example", false), AT_ONCE);
            HttpResponse<String> rejected = client.post(CHAT, body("vendor/model-example", false));

            Set<String> shape = Samples.shape(Client.json(rejected));
            assertThat(shape).containsAll(Samples.shape(Samples.json("openrouter/429_shared_capacity.json")));
            assertThat(message(rejected)).contains("limited to 1 requests per minute");
            assertThat(Client.json(rejected).at("/error/metadata/limit_source").asString())
                    .isEqualTo("openrouter_shared_capacity");
        });
    }

    @Test
    void tooManyInFlightIsAPaymentProblemThatPasses() {
        Client.with(options("concurrency=0"), client -> {
            HttpResponse<String> rejected = client.post(CHAT, body("vendor/model-example", true));

            assertThat(rejected.statusCode()).isEqualTo(402);
            assertThat(Client.header(rejected, "retry-after")).isEqualTo("2");
            assertThat(Client.json(rejected).at("/error/metadata/reason").asString())
                    .isEqualTo("in_flight_budget_exhausted");
            assertThat(client.log(0).get(0).path("status").asInt()).isEqualTo(402);
        });
    }

    @Test
    void creditsThatAreSpentAreGone() {
        Client.with(options("usd=0.001"), client -> {
            client.post(CHAT, body("vendor/model-example", false), SIZES);
            HttpResponse<String> rejected = client.post(CHAT, body("vendor/model-example", false), SIZES);

            assertThat(rejected.statusCode()).isEqualTo(402);
            assertThat(Samples.shape(Client.json(rejected)))
                    .isEqualTo(Samples.shape(Samples.json("openrouter/402_credits.json")));
            assertThat(rejected.headers().firstValue("retry-after")).isEmpty();
            assertThat(client.stats().path("usd").asDouble()).isEqualTo(0.001203);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "'{\"spend\":\"as=own,spent=true\"}', 402, /error/metadata/limit_source, openrouter_key_limit, , spend",
        "'{\"overload\":{}}', 503, /error/metadata/error_type, provider_overloaded, , overload",
        "'{\"overload\":\"retry-after=7s\"}', 503, /error/metadata/error_type, provider_overloaded, 7, overload",
        "'{\"overload\":\"status=429,retry-after=4s\"}', 429, /error/metadata/provider_name, Emulated, 4, overload",
        "'{\"overload\":\"status=502\"}', 502, /error/metadata/error_type, provider_unavailable, , server",
        "'{\"acceleration\":\"start=1,of=requests\"}', 429, /error/metadata/limit_source, openrouter_shared_capacity, 60, acceleration"
    })
    void otherRejectionsHaveTheirOwnMetadata(
            String behaviour, int status, String member, String value, String retryAfter, String kind) {
        Client.with(options("rpm=100"), client -> {
            client.behave(behaviour);
            client.post(CHAT, body("vendor/model-example", false), AT_ONCE);
            HttpResponse<String> rejected = client.post(CHAT, body("vendor/model-example", false));

            assertThat(rejected.statusCode()).isEqualTo(status);
            assertThat(Client.json(rejected).at("/error/code").asInt()).isEqualTo(status);
            assertThat(Client.json(rejected).at(member).asString()).isEqualTo(value);
            assertThat(rejected.headers().firstValue("retry-after").orElse(null))
                    .isEqualTo(retryAfter);
            assertThat(client.log(0).get(client.log(0).size() - 1).path("kind").asString())
                    .isEqualTo(kind);
        });
    }

    @Test
    void aStreamFailsInAChunkAfterStatus200() {
        Client.with(options("rpm=100"), client -> {
            client.behave("{\"stream-error\":\"after=1,kind=requests\"}");

            HttpResponse<String> answer = client.post(CHAT, body("vendor/model-example", true), SIZES);

            List<JsonNode> chunks = Client.data(answer);
            List<String> sample = Samples.text("openrouter/200_stream_error.sse")
                    .lines()
                    .filter(line -> line.startsWith("data: "))
                    .toList();
            JsonNode error = chunks.get(chunks.size() - 1);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(chunks).hasSize(3);
            assertThat(Samples.shape(error))
                    .isEqualTo(Samples.shape(Samples.JSON.readTree(sample.get(1).substring(6))));
            assertThat(error.at("/error/code").asInt()).isEqualTo(429);
            assertThat(error.at("/choices/0/finish_reason").asString()).isEqualTo("error");
            assertThat(answer.body()).doesNotContain("[DONE]");
        });
    }

    @Test
    void otherPathsAndBadRequestsAreAnsweredInTheProvidersShape() {
        Client.with(options("rpm=0"), client -> {
            assertThat(client.get("/v1/chat/completions").statusCode()).isEqualTo(404);
            assertThat(client.get(CHAT).statusCode()).isEqualTo(405);
            HttpResponse<String> bad = client.post(CHAT, "{\"model\":\"m\"}");
            assertThat(bad.statusCode()).isEqualTo(400);
            assertThat(Client.json(bad).at("/error/code").asInt()).isEqualTo(400);
            assertThat(message(bad)).isEqualTo("messages: Field required");
            assertThat(client.get("/api/v1/models").statusCode()).isEqualTo(200);
        });
    }

    private static String message(HttpResponse<String> answer) {
        return Client.json(answer).at("/error/message").asString();
    }

    private EmulatorOptions options(String limits) {
        return EmulatorOptions.of("openrouter", Limits.parse(limits)).time(time);
    }

    private static String body(String model, boolean stream) {
        return "{\"model\":\"" + model + "\",\"stream\":" + stream
                + ",\"messages\":[{\"role\":\"user\",\"content\":\"Say hi\"}]}";
    }
}
