package io.sluice.testbed.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Over real sockets, with a client that knows only HTTP; the emulator's clock stands still. */
@Timeout(60)
class GeminiTest {
    private static final String MODEL = "/v1beta/models/gemini-example";
    private static final String BODY = "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Say hi\"}]}]}";
    private static final String[] SIZES = {
        "x-emulate-input-tokens", "1000",
        "x-emulate-cache-read-tokens", "4000",
        "x-emulate-output-tokens", "500",
        "x-emulate-thinking-tokens", "380",
        "x-emulate-duration-ms", "400"
    };

    private final ManualTime time = new ManualTime();

    @Test
    void anAnswerHasTheRealOnesShapeAndKeepsThoughtsApart() {
        Client.with(options("rpm=10,itpm=100000"), client -> {
            HttpResponse<String> answer = client.post(MODEL + ":generateContent", BODY, SIZES);

            JsonNode json = Client.json(answer);
            Set<String> sample = Samples.shape(Samples.json("gemini/200_generate.json"));
            // No tools were used.
            sample.remove("/usageMetadata/toolUsePromptTokenCount:NUMBER");
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(Samples.shape(json)).isEqualTo(sample);
            JsonNode usage = json.path("usageMetadata");
            assertThat(usage.path("promptTokenCount").asLong()).isEqualTo(5_000);
            assertThat(usage.path("cachedContentTokenCount").asLong()).isEqualTo(4_000);
            assertThat(usage.path("candidatesTokenCount").asLong()).isEqualTo(120);
            assertThat(usage.path("thoughtsTokenCount").asLong()).isEqualTo(380);
            assertThat(usage.path("totalTokenCount").asLong()).isEqualTo(5_500);
            assertThat(new TreeSet<>(answer.headers().map().keySet()))
                    .noneMatch(name -> name.contains("ratelimit") || name.contains("retry"));
        });
    }

    @Test
    void aStreamTellsUsageSoFarWithEachPieceAndJustEnds() {
        Client.with(options("rpm=10"), client -> {
            HttpResponse<String> answer = client.post(MODEL + ":streamGenerateContent?alt=sse", BODY, SIZES);

            List<JsonNode> pieces = Client.data(answer);
            assertThat(Client.header(answer, "content-type")).isEqualTo("text/event-stream");
            assertThat(answer.body()).doesNotContain("event:").doesNotContain("[DONE]");
            long before = 0;
            for (JsonNode piece : pieces) {
                long total = piece.at("/usageMetadata/totalTokenCount").asLong();
                assertThat(total).isGreaterThanOrEqualTo(before);
                before = total;
            }
            JsonNode last = pieces.get(pieces.size() - 1);
            assertThat(before).isEqualTo(5_500);
            assertThat(last.at("/candidates/0/finishReason").asString()).isEqualTo("STOP");
            assertThat(last.at("/usageMetadata/candidatesTokenCount").asLong()).isEqualTo(120);
            assertThat(pieces.get(0).at("/candidates/0/finishReason").isMissingNode())
                    .isTrue();
            assertThat(pieces.stream()
                            .mapToInt(p -> p.at("/candidates/0/content/parts/0/text")
                                    .asString()
                                    .length())
                            .sum())
                    .isEqualTo(480);
        });
    }

    @Test
    void withoutAltSseAStreamIsOneArray() {
        Client.with(options("rpm=10"), client -> {
            HttpResponse<String> answer = client.post(MODEL + ":streamGenerateContent", BODY, SIZES);

            assertThat(Client.header(answer, "content-type")).startsWith("application/json");
            assertThat(Client.json(answer).isArray()).isTrue();
            assertThat(Client.json(answer).size()).isGreaterThan(1);
        });
    }

    @Test
    void theOutputCapComesFromTheGenerationConfig() {
        Client.with(options("rpm=10"), client -> {
            String body = BODY.replace("}]}]}", "}]}],\"generationConfig\":{\"maxOutputTokens\":400}}");

            JsonNode json = Client.json(client.post(MODEL + ":generateContent", body, SIZES));

            assertThat(json.at("/candidates/0/finishReason").asString()).isEqualTo("MAX_TOKENS");
            assertThat(json.at("/usageMetadata/candidatesTokenCount").asLong()).isEqualTo(20);
        });
    }

    @Test
    void aRejectionNamesItsQuotaAndTheWaitCutToSeconds() {
        Client.with(options("rpm=7,itpm=1000000"), client -> {
            for (int i = 0; i < 7; i++) {
                client.post(MODEL + ":generateContent", BODY, "x-emulate-duration-ms", "0");
            }
            HttpResponse<String> rejected = client.post(MODEL + ":generateContent", BODY);

            // 60 s / 7 = 8.571428571 s, rounded up to the microsecond.
            assertQuota(rejected, "gemini/429_rpm_free.json", "GenerateRequestsPerMinutePerProjectPerModel", "7");
            assertThat(message(rejected))
                    .contains("limit: 7, model: gemini-example")
                    .endsWith("\nPlease retry in 8.571429s.");
            assertThat(detail(rejected, "RetryInfo").path("retryDelay").asString())
                    .isEqualTo("8s");
            assertThat(rejected.headers().firstValue("retry-after")).isEmpty();
        });
        for (String limit : List.of("itpm=5000", "tpm=5000")) {
            Client.with(options(limit), client -> {
                client.post(MODEL + ":generateContent", BODY, SIZES);
                HttpResponse<String> rejected = client.post(MODEL + ":generateContent", BODY, SIZES);

                // Cached input counts in full.
                assertQuota(
                        rejected,
                        "gemini/429_tpm_paid.json",
                        "GenerateContentPaidTierInputTokensPerModelPerMinute",
                        "5000");
                assertThat(detail(rejected, "RetryInfo").path("retryDelay").asString())
                        .isEqualTo("60s");
            });
        }
    }

    @Test
    void aUsedUpDayIsToldAShortWaitThatIsNotTrue() {
        EmulatorOptions options = options("rpd=1").behaviour(Behaviour.NONE.with("new-day-in", "3618200ms"));
        Client.with(options, client -> {
            client.post(MODEL + ":generateContent", BODY, "x-emulate-duration-ms", "0");
            HttpResponse<String> rejected = client.post(MODEL + ":generateContent", BODY);

            assertQuota(rejected, "gemini/429_rpd_free.json", "GenerateRequestsPerDayPerProjectPerModel", "1");
            assertThat(detail(rejected, "RetryInfo").path("retryDelay").asString())
                    .isEqualTo("18s");
            assertThat(message(rejected)).endsWith("Please retry in 18.2s.");
        });
    }

    @ParameterizedTest
    @CsvSource({
        "'{\"spend\":\"spent=true\"}', 429, RESOURCE_EXHAUSTED, spend-based rate limit, spend",
        "'{\"spend\":\"spent=true,as=cap\"}', 429, RESOURCE_EXHAUSTED, monthly spending cap, spend",
        "'{\"spend\":\"spent=true,as=credits\"}', 429, RESOURCE_EXHAUSTED, prepayment credits are depleted, credits",
        "'{\"overload\":{}}', 503, UNAVAILABLE, overloaded, overload",
        "'{\"overload\":{\"status\":500}}', 500, INTERNAL, internal, server",
        "'{\"overload\":{\"status\":504}}', 504, DEADLINE_EXCEEDED, too long, server",
        "'{\"overload\":{\"status\":429}}', 429, RESOURCE_EXHAUSTED, Resource has been exhausted, overload",
        "'{\"acceleration\":\"start=1,of=requests\"}', 429, RESOURCE_EXHAUSTED, Resource has been, acceleration"
    })
    void otherRejectionsHaveTheirOwnTexts(String behaviour, int code, String status, String words, String kind) {
        Client.with(options("rpm=100"), client -> {
            client.behave(behaviour);
            client.post(MODEL + ":generateContent", BODY, "x-emulate-duration-ms", "0");
            HttpResponse<String> rejected = client.post(MODEL + ":generateContent", BODY);

            assertThat(rejected.statusCode()).isEqualTo(code);
            assertThat(Samples.shape(Client.json(rejected)))
                    .isEqualTo(Samples.shape(Samples.json("gemini/429_bare.json")));
            assertThat(Client.json(rejected).at("/error/status").asString()).isEqualTo(status);
            assertThat(Client.json(rejected).at("/error/code").asInt()).isEqualTo(code);
            assertThat(message(rejected)).contains(words);
            assertThat(client.log(0).get(client.log(0).size() - 1).path("kind").asString())
                    .isEqualTo(kind);
        });
    }

    @Test
    void aPlanIsToldAsCodeAssistDoes() {
        Client.with(options("rpm=100").behaviour(Behaviour.NONE.with("plan", "5h=10,5h-used=1")), client -> {
            HttpResponse<String> rejected = client.post(MODEL + ":generateContent", BODY);

            assertThat(Samples.shape(Client.json(rejected)))
                    .isEqualTo(Samples.shape(Samples.json("gemini/429_code_assist_quota.json")));
            assertThat(detail(rejected, "ErrorInfo").path("reason").asString()).isEqualTo("QUOTA_EXHAUSTED");
            assertThat(detail(rejected, "RetryInfo").path("retryDelay").asString())
                    .isEqualTo("18000s");
        });
    }

    @Test
    void streamsFailUnderWay() {
        Client.with(options("rpm=100"), client -> {
            String stream = MODEL + ":streamGenerateContent?alt=sse";
            client.behave("{\"stream-error\":\"after=4,kind=requests\"}");
            List<JsonNode> pieces = Client.data(client.post(stream, BODY, SIZES));
            JsonNode error = pieces.get(pieces.size() - 1);
            assertThat(pieces).hasSize(2);
            assertThat(error.at("/error/code").asInt()).isEqualTo(429);
            assertThat(Samples.shape(error))
                    .isEqualTo(Samples.shape(Samples.JSON.readTree(Samples.text("gemini/200_stream_error_data.sse")
                            .strip()
                            .substring("data: ".length()))));

            client.behave("{\"stream-error\":\"after=4,kind=server\"}");
            String body = client.post(stream, BODY, SIZES).body();
            String bare = body.substring(body.lastIndexOf("\n\n") + 2);
            assertThat(Samples.JSON.readTree(bare).at("/error/status").asString())
                    .isEqualTo("INTERNAL");
        });
    }

    @Test
    void otherPathsAndBadRequestsAreAnsweredInTheProvidersShape() {
        Client.with(options("rpm=0"), client -> {
            assertError(client.get("/v1beta/nothing"), 404, "NOT_FOUND");
            assertError(client.post(MODEL + ":dream", BODY), 404, "NOT_FOUND");
            assertError(client.post(MODEL + ":generateContent", "{"), 400, "INVALID_ARGUMENT");
            assertError(client.post(MODEL + ":generateContent", "{}"), 400, "INVALID_ARGUMENT");
            JsonNode count = Client.json(client.post(MODEL + ":countTokens", BODY));
            assertThat(Samples.shape(count)).isEqualTo(Samples.shape(Samples.json("gemini/count_tokens.json")));
            assertThat(client.get("/v1beta/models").statusCode()).isEqualTo(200);
            HttpResponse<String> closed = client.post(MODEL + ":generateContent", BODY);
            assertThat(message(closed)).contains("limit: 0");
        });
    }

    private static void assertError(HttpResponse<String> answer, int code, String status) {
        assertThat(answer.statusCode()).isEqualTo(code);
        assertThat(Client.json(answer).at("/error/status").asString()).isEqualTo(status);
    }

    private static void assertQuota(HttpResponse<String> answer, String sample, String quotaId, String value) {
        assertThat(answer.statusCode()).isEqualTo(429);
        assertThat(Samples.shape(Client.json(answer))).isEqualTo(Samples.shape(Samples.json(sample)));
        JsonNode violation = detail(answer, "QuotaFailure").at("/violations/0");
        assertThat(violation.path("quotaId").asString()).isEqualTo(quotaId);
        assertThat(violation.path("quotaValue").asString()).isEqualTo(value);
    }

    private static JsonNode detail(HttpResponse<String> answer, String type) {
        for (JsonNode detail : Client.json(answer).at("/error/details").values()) {
            if (detail.path("@type").asString().endsWith(type)) {
                return detail;
            }
        }
        throw new AssertionError("no " + type + " in " + answer.body());
    }

    private static String message(HttpResponse<String> answer) {
        return Client.json(answer).at("/error/message").asString();
    }

    private EmulatorOptions options(String limits) {
        return EmulatorOptions.of("gemini", Limits.parse(limits)).time(time);
    }
}
