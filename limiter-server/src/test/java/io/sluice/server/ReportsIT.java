package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What a caller says that its provider said may be wrong, or a lie: it slows its project for minutes, never stops it for a day. */
@Tag("contract")
@WithRedis
class ReportsIT {
    private static final String CALL = "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":10}";
    private static final String TOO_MANY = """
            {"status": 429, "headers": {"retry-after": "%d"},
             "body": "{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"rate_limit_error\\",\\"message\\":\\"slow down\\"}}"}
            """;
    private static final String NO_CREDIT = """
            {"status": 400, "body": "{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"invalid_request_error\\",\\"message\\":\\"Your credit balance is too low to access the Anthropic API.\\"}}"}
            """;
    private static final String SERVED = "{\"status\": 200, \"usage\": {\"input_tokens\": 10, \"output_tokens\": 1}}";
    private static final long FIVE_MINUTES_MS = 300_000;

    @TempDir
    static Path directory;

    private static Secured secured;

    private final String project =
            Policies.installed(secured.root, "{rpm: 6000, itpm: {amount: 60000, adopt: true}, concurrency: 50}");
    private final String at = "/v1/projects/" + project;

    @BeforeAll
    static void start() throws IOException {
        secured = new Secured(directory);
    }

    @AfterAll
    static void stop() {
        secured.close();
    }

    private String take(Http caller) {
        Reply granted = caller.post(at + "/permits", CALL);
        assertThat(granted.status()).as(granted.body()).isEqualTo(201);
        return granted.json().get("permit").asString();
    }

    private Reply settle(Http caller, String permit, String report) {
        Reply settled = caller.post(at + "/permits/" + permit + "/settle", report);
        assertThat(settled.status()).as(settled.body()).isEqualTo(200);
        return settled;
    }

    private JsonNode hold() {
        JsonNode holds = secured.root.get(at + "/status").json().get("holds");
        assertThat(holds.valueStream()).hasSize(1);
        return holds.get(0);
    }

    private void assertHeldForFiveMinutesAtMost() {
        assertThat(hold().get("left_ms").asLong()).isBetween(FIVE_MINUTES_MS - 20_000, FIVE_MINUTES_MS);
        Reply no = secured.two.post(at + "/permits", CALL);
        assertThat(no.kind()).isEqualTo("hold");
        assertThat(no.status()).isEqualTo(429);
        assertThat(Integer.parseInt(no.header("retry-after"))).isBetween(280, 300);
    }

    @Test
    void aDayThatOneCallerReportsIsFiveMinutesForEverybody() {
        JsonNode advice = settle(secured.one, take(secured.one), TOO_MANY.formatted(86_400))
                .json()
                .get("advice");

        assertThat(advice.get("wait_ms").asLong())
                .as("what it was told itself it may obey")
                .isEqualTo(86_400_000);
        assertHeldForFiveMinutesAtMost();
    }

    @Test
    void afterItOneCallGoesFirst() {
        settle(secured.one, take(secured.one), TOO_MANY.formatted(86_400));
        assertThat(secured.root.delete(at + "/hold").json().get("released").asBoolean())
                .isTrue();

        String probe = take(secured.two);
        assertFullAgain(); // until the provider has served it
        settle(secured.two, probe, SERVED);
        take(secured.two);
        take(secured.two);
        assertFullAgain();
    }

    private void assertFullAgain() {
        Reply no = secured.one.post(at + "/permits", CALL);
        assertThat(no.status()).isEqualTo(429);
        assertThat(no.json().get("limit").asString()).isEqualTo("hold");
        assertThat(no.header("retry-after")).isNotEmpty();
    }

    @Test
    void thatMoneyRanOutHoldsForMinutesUntilASecondCallerSaysSo() {
        String first = take(secured.one);
        String again = take(secured.one);
        String second = take(secured.two);

        JsonNode advice = settle(secured.one, first, NO_CREDIT).json().get("advice");
        assertThat(advice.get("action").asString()).isEqualTo("stop");
        assertThat(advice.get("kind").asString()).isEqualTo("credits");
        assertHeldForFiveMinutesAtMost();
        settle(secured.one, again, NO_CREDIT);
        assertHeldForFiveMinutesAtMost();

        settle(secured.two, second, NO_CREDIT);
        assertThat(hold().get("kind").asString()).isEqualTo("credits");
        assertThat(hold().get("left_ms").isNull())
                .as("until somebody releases it")
                .isTrue();
    }

    @Test
    void whatAMuteTokenTellsConcernsItselfAlone() {
        String permit = take(secured.mute);
        JsonNode told = settle(secured.mute, permit, TOO_MANY.formatted(60)).json();

        assertThat(told.get("ended").asString()).isEqualTo("throttled");
        assertThat(told.get("advice").get("action").asString()).isEqualTo("retry");
        settle(secured.mute, take(secured.mute), left(0, 10));
        take(secured.two);
        JsonNode status = secured.root.get(at + "/status").json();
        assertThat(status.get("holds").isEmpty()).isTrue();
        assertThat(status.get("provider").isEmpty()).isTrue();
        assertThat(level(status, "rpm")).isGreaterThan(400);
    }

    private static String left(long requests, long input) {
        String reset = Instant.now().plusSeconds(30).toString();
        return """
                {"status": 200, "usage": {"input_tokens": 10, "output_tokens": 1}, "headers": {
                 "anthropic-ratelimit-requests-limit": "6000", "anthropic-ratelimit-requests-remaining": "%d",
                 "anthropic-ratelimit-requests-reset": "%s",
                 "anthropic-ratelimit-input-tokens-limit": "%d", "anthropic-ratelimit-input-tokens-remaining": "%d",
                 "anthropic-ratelimit-input-tokens-reset": "%s"}}
                """.formatted(requests, reset, input, input, reset);
    }

    private static double level(JsonNode status, String limit) {
        return limit(status, limit).get("level").asDouble();
    }

    private static JsonNode limit(JsonNode status, String name) {
        return status.get("limits")
                .valueStream()
                .filter(one -> one.get("limit").asString().equals(name)
                        && one.get("scope").asString().equals("c:sonnet"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void thatLittleIsLeftLowersALevel() {
        settle(secured.one, take(secured.one), left(5, 60_000));

        // Of 450 when full; 90 come back a second.
        await().atMost(10, TimeUnit.SECONDS).until(() -> {
            JsonNode status = secured.root.get(at + "/status").json();
            return !status.get("provider").isEmpty() && level(status, "rpm") < 440;
        });
    }

    @Test
    void thatMuchIsLeftRaisesNone() {
        String first = take(secured.one);
        String second = take(secured.one);
        settle(secured.one, first, "{\"usage\": {\"input_tokens\": 50000, \"output_tokens\": 1}}");
        settle(secured.one, second, left(6_000, 60_000));

        await().atMost(10, TimeUnit.SECONDS)
                .until(() ->
                        !secured.root.get(at + "/status").json().get("provider").isEmpty());
        assertThat(level(secured.root.get(at + "/status").json(), "itpm"))
                .as("a debt of 45,000 takes 50 s")
                .isNegative();
    }

    /** With {@code adopt} the provider's header sets an amount; whoever can set a header could close a project to all others. */
    @Test
    void oneCallersWordForALimitIsNotAdopted() {
        for (int i = 0; i < 4; i++) {
            settle(secured.one, take(secured.one), left(3_000, 20));
        }
        await().pollDelay(1, TimeUnit.SECONDS).atMost(10, TimeUnit.SECONDS).until(() -> true);

        JsonNode itpm = limit(secured.root.get(at + "/status").json(), "itpm");
        assertThat(itpm.get("amount").asLong()).isEqualTo(60_000);
        Reply asked = secured.two.post(at + "/permits", "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1000}");
        assertThat(asked.status())
                .as("little may be left for the moment, but it fits: %s", asked.body())
                .isNotEqualTo(422);
    }

    @Test
    void usageFarAboveTheEstimateIsBookedAtItsBoundAndShown() {
        String absurd = "{\"usage\": {\"input_tokens\": 900000000, \"output_tokens\": 1}}";
        JsonNode charged = settle(secured.one, take(secured.one), absurd).json().get("charged");

        assertThat(charged.get("input").asLong()).as("as it is booked").isEqualTo(60_000);

        JsonNode itpm = limit(secured.root.get(at + "/status").json(), "itpm");
        // 4,500 when full, less one minute of the limit: 54,000 of its 60,000 may be used.
        assertThat(itpm.get("level").asDouble()).isBetween(4_500.0 - 60_000, 4_500.0 - 50_000);
        await().atMost(10, TimeUnit.SECONDS)
                .until(() -> secured.root
                        .get("/actuator/prometheus")
                        .body()
                        .contains("sluice_rare_total{event=\"usage_bounded\",project=\"" + project + "\"} 1.0"));
        assertThat(secured.root.get(at + "/usage?by=team").body()).doesNotContain("900000000");
    }

    /** A zero was taken for missing, and missing crashed what should have booked it (BerriAI/litellm#37992). */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"input_tokens\":0,\"cache_read_tokens\":0,\"cache_write_tokens\":0,\"output_tokens\":0} | 0 | 0 | 0",
                "{} | 10 | 100 | 1",
                "null | 10 | 100 | 1",
                "{\"input_tokens\":null,\"output_tokens\":null} | 10 | 100 | 1",
                "{\"input_tokens\":7} | 7 | 100 | 1",
            })
    void zeroNullAndMissingUsageAreThreeThings(String usage, long input, long output, int missing) {
        JsonNode charged = settle(secured.one, take(secured.one), "{\"usage\": " + usage + "}")
                .json()
                .get("charged");

        assertThat(charged.get("input").asLong()).isEqualTo(input);
        assertThat(charged.get("output").asLong()).isEqualTo(output);
        JsonNode status = secured.root.get(at + "/status").json();
        assertThat(status.get("in_flight").get("p").asInt()).isZero();
        await().atMost(15, TimeUnit.SECONDS)
                .until(() -> secured.root
                        .get("/actuator/prometheus")
                        .body()
                        .contains("sluice_usage_missing_total{project=\"" + project + "\"} " + missing + ".0"));
    }

    @Test
    void usageThatNoCallCanHaveIsRefusedAndThePermitStaysAsItWas() {
        String permit = take(secured.one);
        for (String absurd :
                new String[] {"-1", "1000000001", "9223372036854775807", "92233720368547758070", "1.5", "\"7\""}) {
            Reply no = secured.one.post(
                    at + "/permits/" + permit + "/settle", "{\"usage\": {\"input_tokens\": " + absurd + "}}");
            assertThat(no.status()).as(absurd).isEqualTo(400);
            assertThat(no.json().get("problems").get(0).get("path").asString()).startsWith("/usage");
        }
        assertThat(settle(secured.one, permit, SERVED).json().get("already").asBoolean())
                .isFalse();
    }
}
