package io.sluice.provider;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.sluice.Answer;
import io.sluice.AnswerStream;
import io.sluice.Profile;
import io.sluice.Reading;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** No answer makes a profile throw, and none keeps it busy. */
class HostileAnswersTest {
    private static final int[] STATUSES = {
        0, 100, 200, 204, 301, 400, 402, 403, 408, 413, 429, 499, 500, 503, 529, 599, 999
    };
    private static final String[] PIECES = {
        "{",
        "}",
        "[",
        "]",
        "\"",
        ":",
        ",",
        "\\",
        "\n",
        "\r",
        "data: ",
        "event: error",
        "null",
        "-1",
        "1e999",
        "0",
        "\"error\"",
        "\"type\"",
        "\"message\"",
        "\"code\"",
        "\"usage\"",
        "\"details\"",
        "\"metadata\"",
        "\"choices\"",
        "\"input_tokens\"",
        "\"response\"",
        "\"@type\"",
        "\"usageMetadata\"",
        "\"response.failed\"",
        "\"message_start\"",
        "Limit ",
        "30,000",
        " input tokens per minute",
        "try again in ",
        "1m30.951s",
        "2026-13-45",
        "\ufeff",
        "\u0000",
        "\ud83d",
        "429",
        "\"rate_limit_exceeded\"",
        "\"quotaValue\":\"0\"",
        "\"retryDelay\":\"-5s\""
    };

    @Test
    void randomAnswersAreRead() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        assertThatCode(() -> {
                    for (int i = 0; i < 5_000; i++) {
                        StringBuilder body = new StringBuilder();
                        for (int n = random.nextInt(40); n > 0; n--) {
                            body.append(PIECES[random.nextInt(PIECES.length)]);
                        }
                        read(UsageTest.ALL[i % UsageTest.ALL.length], random, body.toString());
                    }
                })
                .as("seed " + seed)
                .doesNotThrowAnyException();
    }

    private static void read(Profile profile, Random random, String body) {
        int status = STATUSES[random.nextInt(STATUSES.length)];
        String value = PIECES[random.nextInt(PIECES.length)];
        Answer answer = Answer.of(status, Told.NOW)
                .headers(Map.of(
                        "retry-after", List.of(value),
                        "x-ratelimit-reset", List.of(value, value),
                        "x-ratelimit-remaining-requests", List.of(value),
                        "anthropic-ratelimit-unified-status", List.of("rejected"),
                        "ratelimit", List.of(value)));
        Reading reading = profile.read(answer.body(body));
        AnswerStream stream = profile.stream(answer);
        stream.feed(body.getBytes(ISO_8859_1));
        Reading streamed = stream.end();
        for (Reading one : List.of(reading, streamed)) {
            assertThat(one.explanation()).containsKey("class");
            if (status >= 400) {
                assertThat(one.rejection()).isNotNull();
            }
            if (one.rejection() != null && one.rejection().waitFor() != null) {
                assertThat(one.rejection().waitFor()).isBetween(Duration.ZERO, Duration.ofDays(32));
            }
        }
    }

    /** Each of these is quadratic or worse for a careless parser. */
    @Test
    void longAnswersAreReadInOneGo() {
        List<String> bodies = List.of(
                "[".repeat(500_000),
                "{\"error\":".repeat(100_000),
                "{\"error\":{\"message\":\"" + "limit ".repeat(20_000) + "\"}}",
                "{\"error\":{\"message\":\"" + "try again in 1".repeat(20_000) + "\"}}",
                "{\"error\":{\"message\":\"" + "1".repeat(60_000) + " requests per minute\"}}",
                "{\"error\":{\"message\":\"" + "2026-".repeat(12_000) + "\"}}",
                "{\"error\":{\"details\":[" + "{\"@type\":\"google.rpc.QuotaFailure\",\"violations\":[{}]},".repeat(900)
                        + "{}]}}",
                "{\"usage\":{\"input_tokens\":" + "9".repeat(900) + "}}",
                "data: 1\n".repeat(200_000));
        long start = System.nanoTime();

        for (Profile profile : UsageTest.ALL) {
            for (String body : bodies) {
                profile.read(Told.answer(429, "", body));
                profile.read(Told.answer(200, "", body));
                Told.stream(profile, body);
            }
        }

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(60));
    }

    /** A price of 400 digits made a profile throw, and with it whoever wanted to end the permit. */
    @Test
    void figuresBeyondAnyRangeAreNotSaid() {
        for (String number : List.of("9".repeat(400), "-" + "9".repeat(400), "1e999", "-1e999", "1e-999")) {
            String body = ("{'usage':{'prompt_tokens':1,'completion_tokens':N,'cost':N,'input_tokens':N},"
                            + "'data':{'limit':N,'limit_remaining':N,'total_credits':N,'total_usage':N},"
                            + "'usageMetadata':{'promptTokenCount':N}}")
                    .replace('\'', '"')
                    .replace("N", number);
            for (Profile profile : UsageTest.ALL) {
                assertThatCode(() -> profile.read(Told.answer(200, "", body)))
                        .as(number)
                        .doesNotThrowAnyException();
            }
        }
    }

    /** Headers come from outside too. */
    @Test
    void longHeadersAreReadInOneGo() {
        String digits = "9".repeat(100_000);
        Map<String, List<String>> headers = Map.of(
                "retry-after", List.of(digits, "1,".repeat(5_000)),
                "ratelimit", List.of("\"a\";r=1,".repeat(20_000)),
                "x-ratelimit-remaining-requests", List.of(digits),
                "x-ratelimit-reset-requests", List.of("1m".repeat(50_000)),
                "anthropic-ratelimit-requests-reset", List.of("2026-".repeat(20_000)));

        for (Profile profile : UsageTest.ALL) {
            assertThat(profile.read(Answer.of(429, Told.NOW).headers(headers)).rejection())
                    .isNotNull();
        }
    }

    /** A refusal's body counts up to 64 KiB: what stands behind is not looked at. */
    @Test
    void aRefusalsBodyIsBounded() {
        String behind = "x".repeat(64 * 1024) + " on requests per day (RPD). Please try again in 7m12s.";

        assertThat(Told.verdict(OpenAi.PROFILE, 429, "", behind)).isEqualTo("requests retry - class");
    }
}
