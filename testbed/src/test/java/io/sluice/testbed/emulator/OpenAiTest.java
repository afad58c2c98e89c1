package io.sluice.testbed.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Over real sockets, with a client that knows only HTTP; the emulator's clock stands still where texts tell times. */
@Timeout(60)
class OpenAiTest {
    private static final String CHAT = "/v1/chat/completions";
    private static final String RESPONSES = "/v1/responses";
    private static final String[] SIZES = {
        "x-emulate-input-tokens", "86",
        "x-emulate-cache-read-tokens", "1920",
        "x-emulate-output-tokens", "300",
        "x-emulate-thinking-tokens", "256",
        "x-emulate-duration-ms", "50"
    };

    private final ManualTime time = new ManualTime();

    @Test
    void aCompletionHasTheRealOnesShapeAndCountsTheCacheInThePrompt() {
        Client.with(options("rpm=500,tpm=30000"), client -> {
            HttpResponse<String> answer = client.post(CHAT, chat(""), SIZES);

            JsonNode completion = Client.json(answer);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(Samples.shape(completion)).isEqualTo(Samples.shape(Samples.json("openai/200_chat.json")));
            assertThat(completion.at("/usage/prompt_tokens").asLong()).isEqualTo(2_006);
            assertThat(completion
                            .at("/usage/prompt_tokens_details/cached_tokens")
                            .asLong())
                    .isEqualTo(1_920);
            assertThat(completion.at("/usage/completion_tokens").asLong()).isEqualTo(300);
            assertThat(completion
                            .at("/usage/completion_tokens_details/reasoning_tokens")
                            .asLong())
                    .isEqualTo(256);
            assertThat(completion.at("/usage/total_tokens").asLong()).isEqualTo(2_306);
            assertThat(completion.at("/choices/0/message/content").asString()).hasSize(4 * 44);
            assertThat(Client.header(answer, "x-ratelimit-limit-requests")).isEqualTo("500");
            assertThat(Client.header(answer, "x-ratelimit-remaining-requests")).isEqualTo("499");
            assertThat(Client.header(answer, "x-ratelimit-reset-requests")).isEqualTo("120ms");
            // The prompt, cached or not, is more than no cap.
            assertThat(Client.header(answer, "x-ratelimit-remaining-tokens")).isEqualTo("27994");
            assertThat(Client.header(answer, "x-ratelimit-reset-tokens")).isEqualTo("4.012s");
        });
    }

    @Test
    void theLargerOfCapAndPromptIsChargedAndStays() {
        Client.with(options("tpm=30000"), client -> {
            client.post(CHAT, chat(",\"max_tokens\":9000"), SIZES);
            HttpResponse<String> second = client.post(CHAT, chat(",\"max_completion_tokens\":1000"), SIZES);

            assertThat(Client.header(second, "x-ratelimit-remaining-tokens")).isEqualTo("18994");
        });
    }

    @Test
    void aChatStreamTellsUsageOnlyWhenAsked() {
        Client.with(options("rpm=500"), client -> {
            HttpResponse<String> without = client.post(CHAT, chat(",\"stream\":true"), SIZES);
            HttpResponse<String> with =
                    client.post(CHAT, chat(",\"stream\":true,\"stream_options\":{\"include_usage\":true}"), SIZES);

            assertThat(Client.header(without, "content-type")).startsWith("text/event-stream");
            assertThat(without.body()).endsWith("data: [DONE]\n\n").doesNotContain("usage");
            List<JsonNode> chunks = Client.data(with);
            JsonNode last = chunks.get(chunks.size() - 1);
            assertThat(with.body()).endsWith("data: [DONE]\n\n");
            assertThat(last.path("choices")).isEmpty();
            assertThat(last.at("/usage/prompt_tokens").asLong()).isEqualTo(2_006);
            assertThat(last.at("/usage/completion_tokens").asLong()).isEqualTo(300);
            assertThat(chunks.subList(0, chunks.size() - 1))
                    .isNotEmpty()
                    .allMatch(chunk -> chunk.path("usage").isNull());
            assertThat(chunks.get(chunks.size() - 2)
                            .at("/choices/0/finish_reason")
                            .asString())
                    .isEqualTo("stop");
            assertThat(chunks.get(0).at("/choices/0/delta/role").asString()).isEqualTo("assistant");
        });
    }

    @Test
    void aResponseHasTheRealOnesShape() {
        Client.with(options("rpm=500"), client -> {
            JsonNode response = Client.json(client.post(RESPONSES, response(""), SIZES));

            assertThat(Samples.shape(response)).containsAll(Samples.shape(Samples.json("openai/200_responses.json")));
            assertThat(response.at("/usage/input_tokens").asLong()).isEqualTo(2_006);
            assertThat(response.at("/usage/input_tokens_details/cached_tokens").asLong())
                    .isEqualTo(1_920);
            assertThat(response.at("/usage/output_tokens_details/reasoning_tokens")
                            .asLong())
                    .isEqualTo(256);
            assertThat(response.at("/output/0/content/0/text").asString()).hasSize(4 * 44);
        });
    }

    @Test
    void aResponseStreamIsNumberedAndEndsWithTheWholeResponse() {
        Client.with(options("rpm=500"), client -> {
            List<JsonNode> events = Client.data(client.post(RESPONSES, response(",\"stream\":true"), SIZES));
            List<JsonNode> cut =
                    Client.data(client.post(RESPONSES, response(",\"stream\":true,\"max_output_tokens\":270"), SIZES));

            assertThat(events)
                    .extracting(e -> e.path("type").asString())
                    .containsExactly(
                            "response.created",
                            "response.in_progress",
                            "response.output_item.added",
                            "response.content_part.added",
                            "response.output_text.delta",
                            "response.output_text.done",
                            "response.content_part.done",
                            "response.output_item.done",
                            "response.completed");
            for (int i = 0; i < events.size(); i++) {
                assertThat(events.get(i).path("sequence_number").asInt()).isEqualTo(i);
            }
            assertThat(events.get(0).at("/response/usage").isNull()).isTrue();
            JsonNode end = events.get(events.size() - 1);
            assertThat(end.at("/response/usage/total_tokens").asLong()).isEqualTo(2_306);
            JsonNode incomplete = cut.get(cut.size() - 1);
            assertThat(incomplete.path("type").asString()).isEqualTo("response.incomplete");
            assertThat(incomplete.at("/response/incomplete_details/reason").asString())
                    .isEqualTo("max_output_tokens");
            assertThat(incomplete.at("/response/usage/output_tokens").asLong()).isEqualTo(270);
        });
    }

    @Test
    void aRejectionByRequestsTellsTheRefillOfOne() {
        Client.with(options("rpm=3,tpm=30000"), client -> {
            for (int i = 0; i < 3; i++) {
                client.post(CHAT, chat(""), "x-emulate-duration-ms", "0", "x-emulate-input-tokens", "100");
            }
            HttpResponse<String> rejected = client.post(RESPONSES, response(""));

            assertRejected(rejected, "openai/429_rpm.json", "requests", "rate_limit_exceeded");
            assertThat(message(rejected))
                    .isEqualTo("Rate limit reached for gpt-example in organization org-emulated on requests per min "
                            + "(RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.");
            assertThat(Client.header(rejected, "retry-after")).isEqualTo("20");
            assertThat(Client.header(rejected, "retry-after-ms")).isEqualTo("20000");
            assertThat(Client.header(rejected, "x-ratelimit-reset-requests")).isEqualTo("1m0s");
            assertThat(rejected.headers().map().keySet()).containsAll(Samples.headerNames("openai/429_rpm.headers"));
        });
    }

    @Test
    void aRejectionByTokensKeepsTheRealOnesArithmetic() {
        Client.with(options("tpm=30000"), client -> {
            client.post(CHAT, chat(""), "x-emulate-duration-ms", "0", "x-emulate-input-tokens", "15532");
            HttpResponse<String> rejected = client.post(CHAT, chat(",\"max_tokens\":14655"));

            // (15532 + 14655 - 30000) / 30000 minutes
            assertRejected(rejected, "openai/429_tpm.json", "tokens", "rate_limit_exceeded");
            assertThat(message(rejected))
                    .endsWith("on tokens per min (TPM): Limit 30000, Used 15532, Requested 14655. Please try again in "
                            + "374ms.");
            assertThat(Client.header(rejected, "retry-after-ms")).isEqualTo("374");
            assertThat(Client.header(rejected, "retry-after")).isEqualTo("1");
            assertThat(Client.header(rejected, "x-ratelimit-remaining-tokens")).isEqualTo("14468");
            assertThat(Client.header(rejected, "x-ratelimit-reset-tokens")).isEqualTo("31.064s");
        });
    }

    @Test
    void whatNeverFitsIsToldNoWait() {
        Client.with(options("tpm=30000"), client -> {
            HttpResponse<String> rejected = client.post(CHAT, chat(",\"max_tokens\":76503"));

            assertRejected(rejected, "openai/429_tpm.json", "tokens", "rate_limit_exceeded");
            assertThat(message(rejected))
                    .startsWith("Request too large for gpt-example")
                    .contains("Limit 30000, Requested 76503.")
                    .doesNotContain("try again");
            assertThat(rejected.headers().firstValue("retry-after")).isEmpty();
            assertThat(rejected.headers().firstValue("retry-after-ms")).isEmpty();
        });
    }

    @Test
    void aDayThatIsUsedUpTellsItsWaitInTextAndHeaders() {
        Client.with(options("rpd=200,rpm=1000"), client -> {
            for (int i = 0; i < 200; i++) {
                client.post(CHAT, chat(""), "x-emulate-duration-ms", "0");
            }
            HttpResponse<String> rejected = client.post(CHAT, chat(""));

            assertRejected(rejected, "openai/429_rpd.json", "requests", "rate_limit_exceeded");
            assertThat(message(rejected))
                    .contains(
                            "on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s.");
            assertThat(Client.header(rejected, "x-ratelimit-limit-requests")).isEqualTo("200");
            assertThat(Client.header(rejected, "x-ratelimit-remaining-requests"))
                    .isEqualTo("0");
            assertThat(Client.header(rejected, "x-ratelimit-reset-requests")).isEqualTo("24h0m0s");
            assertThat(client.log(0).get(400).path("kind").asString()).isEqualTo("daily");
        });
    }

    @ParameterizedTest
    @CsvSource({
        "'{\"spend\":\"spent=true,as=credits\"}', insufficient_quota, insufficient_quota, 429, credits",
        "'{\"spend\":\"spent=true,as=cap\"}', insufficient_quota, organization_spend_limit_exceeded, 429, spend",
        "'{\"spend\":{\"spent\":true,\"as\":\"own\"}}', insufficient_quota, project_spend_limit_exceeded, 429, spend",
        "'{\"overload\":{}}', service_unavailable_error, server_is_overloaded, 503, overload",
        "'{\"overload\":{\"status\":429}}', rate_limit_error, resource_unavailable, 429, overload",
        "'{\"overload\":{\"status\":500}}', server_error, , 500, server",
        "'{\"acceleration\":{\"start\":1,\"of\":\"requests\"}}', service_unavailable_error, slow_down, 503, acceleration"
    })
    void otherRejectionsHaveTheirOwnCodes(String behaviour, String type, String code, int status, String kind) {
        Client.with(options("rpm=100"), client -> {
            client.behave(behaviour);
            client.post(CHAT, chat(""), "x-emulate-duration-ms", "0");
            HttpResponse<String> rejected = client.post(CHAT, chat(""));

            assertThat(rejected.statusCode()).isEqualTo(status);
            JsonNode error = Client.json(rejected).path("error");
            assertThat(error.path("type").asString()).isEqualTo(type);
            assertThat(error.path("code").asString("")).isEqualTo(code == null ? "" : code);
            assertThat(error.properties()).hasSize(4);
            assertThat(rejected.headers().firstValue("retry-after")).isEmpty();
            JsonNode line = client.log(0).get(client.log(0).size() - 1);
            assertThat(line.path("kind").asString()).isEqualTo(kind);
            assertThat(line.path("status").asInt()).isEqualTo(status);
        });
    }

    @Test
    void aPlanTellsItsWindowsAsCodexReadsThem() {
        EmulatorOptions options =
                options("rpm=100").behaviour(Behaviour.NONE.with("plan", "5h=1000,7d=10000,5h-used=0.5"));
        Client.with(options, client -> {
            HttpResponse<String> answer =
                    client.post(RESPONSES, response(""), "x-emulate-input-tokens", "250", "x-emulate-duration-ms", "0");
            assertThat(Client.header(answer, "x-codex-primary-used-percent")).isEqualTo("75.0");
            assertThat(Client.header(answer, "x-codex-primary-window-minutes")).isEqualTo("300");
            assertThat(Client.header(answer, "x-codex-secondary-used-percent")).isEqualTo("2.5");
            client.post(RESPONSES, response(""), "x-emulate-input-tokens", "250", "x-emulate-duration-ms", "0");

            HttpResponse<String> rejected = client.post(RESPONSES, response(""));

            JsonNode error = Client.json(rejected).path("error");
            assertThat(rejected.statusCode()).isEqualTo(429);
            assertThat(Samples.shape(Client.json(rejected)))
                    .containsAll(Samples.shape(Samples.json("openai/429_codex_plan.json")));
            assertThat(error.path("type").asString()).isEqualTo("usage_limit_reached");
            assertThat(error.path("resets_at").asLong())
                    .isEqualTo(time.instant().plusSeconds(5 * 3_600).getEpochSecond());
        });
    }

    @Test
    void streamsFailUnderWay() {
        Client.with(options("rpm=100"), client -> {
            client.behave("{\"stream_error\":{\"after\":1,\"kind\":\"overload\"}}");
            List<JsonNode> chunks = Client.data(client.post(CHAT, chat(",\"stream\":true"), slow()));
            assertThat(chunks).hasSize(3);
            assertThat(chunks.get(2).at("/error/code").asString()).isEqualTo("server_is_overloaded");

            client.behave("{\"stream_error\":{\"after\":2,\"kind\":\"requests\"}}");
            List<JsonNode> events = Client.data(client.post(RESPONSES, response(",\"stream\":true"), slow()));
            JsonNode failed = events.get(events.size() - 1);
            assertThat(events).hasSize(4 + 2 + 1);
            assertThat(failed.path("type").asString()).isEqualTo("response.failed");
            assertThat(failed.at("/response/error/code").asString()).isEqualTo("rate_limit_exceeded");
            assertThat(failed.at("/response/error/message").asString()).contains("try again in 3s");

            client.behave("{\"stream_error\":{\"after\":0,\"kind\":\"server\"}}");
            events = Client.data(client.post(RESPONSES, response(",\"stream\":true"), slow()));
            List<JsonNode> sample = Samples.text("openai/200_responses_stream_error_event.sse")
                    .lines()
                    .filter(line -> line.startsWith("data: "))
                    .map(line -> Samples.JSON.readTree(line.substring(6)))
                    .toList();
            assertThat(Samples.shape(events.get(events.size() - 1))).isEqualTo(Samples.shape(sample.get(1)));
            assertThat(client.stats().path("failed").asLong()).isEqualTo(3);
            assertThat(client.stats().path("in_flight").asLong()).isZero();
        });
    }

    private static String[] slow() {
        return new String[] {"x-emulate-output-tokens", "50", "x-emulate-duration-ms", "400"};
    }

    @Test
    void otherPathsAndBadRequestsAreAnsweredInTheProvidersShape() {
        Client.with(options("rpm=0"), client -> {
            assertError(client.get("/v1/nothing"), 404);
            assertError(client.get(CHAT), 405);
            assertError(client.post(CHAT, "{"), 400);
            assertError(client.post(CHAT, "{\"model\":\"m\"}"), 400);
            assertError(client.post(RESPONSES, "{\"model\":\"m\",\"input\":\"\"}"), 400);
            assertError(client.post(RESPONSES, response(",\"max_output_tokens\":0")), 400);
            JsonNode count = Client.json(client.post("/v1/responses/input_tokens", response("")));
            assertThat(Samples.shape(count)).isEqualTo(Samples.shape(Samples.json("openai/input_tokens_count.json")));
            assertThat(client.get("/v1/models").statusCode()).isEqualTo(200);
        });
    }

    private static void assertError(HttpResponse<String> answer, int status) {
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(Client.json(answer).at("/error/type").asString()).isEqualTo("invalid_request_error");
    }

    private static void assertRejected(HttpResponse<String> answer, String sample, String type, String code) {
        assertThat(answer.statusCode()).isEqualTo(429);
        assertThat(Samples.shape(Client.json(answer))).isEqualTo(Samples.shape(Samples.json(sample)));
        assertThat(Client.json(answer).at("/error/type").asString()).isEqualTo(type);
        assertThat(Client.json(answer).at("/error/code").asString()).isEqualTo(code);
    }

    private static String message(HttpResponse<String> answer) {
        return Client.json(answer).at("/error/message").asString();
    }

    private EmulatorOptions options(String limits) {
        return EmulatorOptions.of("openai", Limits.parse(limits)).time(time);
    }

    private static String chat(String more) {
        return "{\"model\":\"gpt-example\",\"messages\":[{\"role\":\"user\",\"content\":\"Say hi\"}]" + more + "}";
    }

    private static String response(String more) {
        return "{\"model\":\"gpt-example\",\"input\":\"Say hi\"" + more + "}";
    }
}
