package io.sluice.testbed.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What Anthropic's emulator does beside its limits, and how that is changed while it runs. */
@Timeout(60)
class BehaveTest {
    private final ManualTime time = new ManualTime();

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"spend":"spent=true"}            | 429 | 429_spend_cap.json       | You will regain access on 2026-09-01 at 00:00 UTC | spend
            {"spend":"spent=true,as=own"}     | 400 | 400_spend_limit_own.json | reached your specified API usage limits           | spend
            {"spend":"spent=true,as=credits"} | 400 | 400_credit_low.json      | credit balance is too low                         | credits
            {"overload":{}}                   | 529 | 529_overloaded.json      | Overloaded                                        | overload
            {"overload":{"status":500}}       | 500 | 529_overloaded.json      | Internal server error                             | server
            """)
    void turnsCallsAwayInTheProvidersWords(String behaviour, int status, String sample, String words, String kind) {
        Client.with(options("rpm=100"), client -> {
            client.behave(behaviour);

            HttpResponse<String> rejected = client.message(false);

            assertThat(rejected.statusCode()).isEqualTo(status);
            assertThat(Samples.shape(Client.json(rejected))).isEqualTo(Samples.shape(Samples.json(sample)));
            assertThat(message(rejected)).contains(words);
            assertThat(rejected.headers().firstValue("retry-after")).isEmpty();
            assertThat(client.log(0).get(0).path("kind").asString()).isEqualTo(kind);
            assertThat(client.log(0).get(0).path("status").asInt()).isEqualTo(status);
            assertThat(client.stats().path("behaviour").size()).isEqualTo(1);
        });
    }

    @Test
    void aSharpRiseIsToldWithTheNextMinutesAllowance() {
        Client.with(options("itpm=1000000"), client -> {
            client.behave("{\"acceleration\":{\"start\":58000,\"growth\":1.25}}");
            call(client, 58_000);
            HttpResponse<String> rejected = client.message(false, "x-emulate-input-tokens", "1");

            assertThat(rejected.statusCode()).isEqualTo(429);
            assertThat(Samples.shape(Client.json(rejected)))
                    .isEqualTo(Samples.shape(Samples.json("429_acceleration.json")));
            assertThat(message(rejected))
                    .contains("maximum usage increase rate")
                    .contains(
                            "Your current limit is 58,000 input tokens per minute, and will increase to 72,500 at the "
                                    + "next minute boundary.");
            assertThat(Client.header(rejected, "retry-after")).isEqualTo("60");
            assertThat(Client.header(rejected, "anthropic-ratelimit-input-tokens-remaining"))
                    .isEqualTo("942000");
        });
    }

    @Test
    void aSubscriptionTellsItsWindowsAndThenRejects() {
        Client.with(options("rpm=100"), client -> {
            client.behave("{\"plan\":{\"5h\":1000,\"7d\":10000,\"5h_used\":0.83,\"7d_used\":0.59}}");
            HttpResponse<String> answer = call(client, 100);
            String prefix = "anthropic-ratelimit-unified-";
            assertThat(Client.header(answer, prefix + "status")).isEqualTo("allowed_warning");
            assertThat(Client.header(answer, prefix + "5h-utilization")).isEqualTo("0.93");
            assertThat(Client.header(answer, prefix + "7d-status")).isEqualTo("allowed");
            assertThat(Client.header(answer, prefix + "7d-utilization")).isEqualTo("0.6");
            call(client, 100);
            time.advance(Duration.ofHours(4));

            HttpResponse<String> rejected = client.message(false);

            assertThat(rejected.statusCode()).isEqualTo(429);
            assertThat(Client.header(rejected, "retry-after")).isEqualTo("3600");
            assertThat(Client.header(rejected, prefix + "status")).isEqualTo("rejected");
            assertThat(Client.header(rejected, prefix + "representative-claim")).isEqualTo("five_hour");
            assertThat(Client.header(rejected, prefix + "reset"))
                    .isEqualTo(Long.toString(time.instant().plusSeconds(3_600).getEpochSecond()));
            assertThat(Client.header(rejected, prefix + "5h-utilization")).isEqualTo("1.0");
            assertThat(rejected.headers().map().keySet())
                    .containsAll(Samples.headerNames("429_unified_subscription.headers"));
        });
    }

    @Test
    void aStreamFailsAfterSomeOfItsOutput() {
        Client.with(options("rpm=100"), client -> {
            client.behave("{\"stream-error\":\"after=2,kind=overload\"}");
            HttpResponse<String> answer =
                    client.message(true, "x-emulate-output-tokens", "40", "x-emulate-duration-ms", "400");

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body().split("content_block_delta\\n", -1)).hasSize(3);
            JsonNode error = Client.data(answer).get(5);
            assertThat(error.at("/error/type").asString()).isEqualTo("overloaded_error");
            assertThat(answer.body()).contains("event: error\n").doesNotContain("message_stop");
            JsonNode line = client.log(0).get(1);
            assertThat(line.path("event").asString()).isEqualTo("failed");
            assertThat(line.path("output").asLong()).isEqualTo(20);
            assertThat(client.stats().path("in_flight").asLong()).isZero();
        });
    }

    @Test
    void aStreamThatIsCutJustEnds() {
        Client.with(options("rpm=100"), client -> {
            client.behave("{\"stream-error\":\"after=1,kind=cut\"}");

            assertThatThrownBy(() -> client.messageAsync(true, "x-emulate-duration-ms", "200")
                            .join())
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(IOException.class);

            assertThat(client.log(0).get(1).path("event").asString()).isEqualTo("failed");
            assertThat(client.message(false, "x-emulate-duration-ms", "0").statusCode())
                    .isEqualTo(200);
        });
    }

    @Test
    void headersLieAsTheyAreTold() {
        Client.with(options("rpm=10,itpm=10000"), client -> {
            assertThat(told(client, "")).isEqualTo("10/9 10000/10000 2026-08-24T12:00:06Z");
            assertThat(told(client, "reset-past")).isEqualTo("10/8 10000/10000 2026-08-24T11:59:00Z");
            assertThat(told(client, "rounded")).isEqualTo("10/0 10000/10000 2026-08-24T12:00:18Z");
            assertThat(told(client, "empty,limit-halved")).isEqualTo("5/0 5000/0 2026-08-24T12:00:24Z");
            assertThat(told(client, "full,limit_doubled")).isEqualTo("20/10 20000/10000 2026-08-24T12:00:30Z");
            assertThat(told(client, "late")).isEqualTo("10/9 10000/10000 2026-08-24T12:00:06Z");
        });
    }

    /** Requests' limit and remaining, input's, requests' reset. */
    private static String told(Client client, String lies) {
        client.behave("{\"lies\":\"" + lies + "\"}");
        HttpResponse<String> answer = call(client, 1);
        String prefix = "anthropic-ratelimit-";
        return Client.header(answer, prefix + "requests-limit") + "/"
                + Client.header(answer, prefix + "requests-remaining") + " "
                + Client.header(answer, prefix + "input-tokens-limit") + "/"
                + Client.header(answer, prefix + "input-tokens-remaining") + " "
                + Client.header(answer, prefix + "requests-reset");
    }

    @ParameterizedTest
    @CsvSource({
        "'', 30",
        "no-wait, (no retry-after)",
        "short-wait, 3",
        "retry-after-date, 'Mon, 24 Aug 2026 12:00:30 GMT'",
        "retry-after-junk, soon"
    })
    void waitsLieToo(String lies, String retryAfter) {
        Client.with(options("rpm=2"), client -> {
            client.behave("{\"lies\":\"" + lies + "\"}");
            call(client, 1);
            call(client, 1);

            assertThat(Client.header(client.message(false), "retry-after")).isEqualTo(retryAfter);
        });
    }

    @Test
    void aSpreadShareOfCallsIsTurnedAway() {
        EmulatorOptions options = options("rpm=100").behaviour(Behaviour.NONE.with("overload", "share=0.2"));
        Client.with(options, client -> {
            for (int i = 0; i < 10; i++) {
                client.message(false, "x-emulate-duration-ms", "0");
            }
            assertThat(client.stats().at("/rejected/overload").asLong()).isEqualTo(2);
            client.behave("{\"overload\":null}");
            assertThat(client.message(false, "x-emulate-duration-ms", "0").statusCode())
                    .isEqualTo(200);
            assertThat(client.post("/_reset", "").statusCode()).isEqualTo(204);
            for (int i = 0; i < 5; i++) {
                client.message(false, "x-emulate-duration-ms", "0");
            }
            assertThat(client.stats().at("/rejected/overload").asLong()).isEqualTo(1);
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"overlaod":{}}                       | unknown behaviour 'overlaod': known are overload, stream-error, acceleration, plan, spend, lies, new-day-in
            {"overload":{"shares":1}}             | overload: unknown 'shares': known are share, from, for, status, retry-after
            {"overload":{"share":1.5}}            | overload: share must be a number from 0 to 1: '1.5'
            {"overload":"share"}                  | overload: not name=value, or given twice: 'share'
            {"overload":{"status":418}}           | overload: status must be 429, 500, 502, 503, 504 or 529: '418'
            {"overload":{"for":"9999h"}}          | overload: for is no time up to 8 days: '9999h'; write 500ms, 5s, 1m or 5h
            {"overload":{"for":[]}}               | overload: for must be a plain value
            {"overload":7}                        | overload must be an object, a text or null
            {"plan":{}}                           | plan: 5h or 7d is needed, in tokens a window
            {"acceleration":{}}                   | acceleration: start is needed, in units a minute
            {"acceleration":"start=9,growth=0.5"} | acceleration: growth must be 1 or more, every 10ms or more
            {"stream-error":{"kind":"rude"}}      | stream-error: kind must be one of overload, requests, server, cut: 'rude'
            {"lies":"white"}                      | lies must be one of reset-past, rounded, late, full, empty, limit-doubled, limit-halved, no-wait, short-wait, retry-after-date, retry-after-junk: 'white'
            {"spend":"as=window"}                 | spend: anthropic has no window: it has cap, own, credits
            {"new-day-in":"tomorrow"}             | new-day-in is no time up to 8 days: 'tomorrow'; write 500ms, 5s, 1m or 5h
            []                                    | not a JSON object
            """)
    void saysWhatIsWrongAndChangesNothing(String json, String error) {
        Client.with(options("rpm=1"), client -> {
            HttpResponse<String> answer = client.post("/_behave", json);

            assertThat(answer.statusCode()).isEqualTo(400);
            assertThat(Client.json(answer).path("error").asString()).isEqualTo(error);
            assertThat(client.stats().path("behaviour")).isEmpty();
        });
    }

    @Test
    void isBounded() {
        Client.with(options("rpm=1"), client -> {
            assertThat(client.post("/_behave", "{\"overload\":").statusCode()).isEqualTo(400);
            assertThat(client.post("/_behave", "{}" + " ".repeat(10_000)).statusCode())
                    .isEqualTo(400);
        });
    }

    private static HttpResponse<String> call(Client client, long input) {
        return client.message(
                false,
                "x-emulate-input-tokens",
                Long.toString(input),
                "x-emulate-output-tokens",
                "0",
                "x-emulate-duration-ms",
                "0");
    }

    private static String message(HttpResponse<String> answer) {
        return Client.json(answer).at("/error/message").asString();
    }

    private EmulatorOptions options(String limits) {
        return Client.options(limits).time(time);
    }
}
