package io.sluice;

import static io.sluice.CallFixture.CALL;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.ProviderStub.Told;
import io.sluice.provider.Gemini;
import io.sluice.provider.OpenAi;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Waits in every form that providers state them, obeyed from one end to the other: openai/openai-python#3555,
 * openai/openai-node#1840, interviewstreet/hiring-agent#386.
 */
@WithRedis
@Timeout(60)
class CallWaitsIT {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final CallFixture fixture;
    private final ProviderStub provider;

    CallWaitsIT(RedisServer redis) {
        this.fixture = new CallFixture(redis);
        this.provider = fixture.provider;
    }

    @AfterEach
    void nothingIsLeft() {
        fixture.nothingIsLeft();
        fixture.close();
    }

    /** 429, then fine; the call is given up once it was heard for how long it waits. */
    private WaitListener.Retrying heard(String... headers) {
        provider.answers(Told.refused(429, "rate_limit_error", headers), Told.served());
        CompletableFuture<Response> call = fixture.callAsync();
        CallFixture.soon().until(() -> !fixture.retries.isEmpty() || call.isDone());
        assertThat(call).as("it waits").isNotDone();
        call.cancel(true);
        assertThat(provider.requests).as("nobody asks before").hasSize(1);
        return fixture.retries.get(0);
    }

    @ParameterizedTest
    @CsvSource({"61, 61000", "60, 60000", "1.5, 1500"})
    void secondsAreObeyedInFull(String retryAfter, long ms) {
        assertThat(heard("retry-after", retryAfter).pause()).isEqualTo(Duration.ofMillis(ms));
    }

    @ParameterizedTest
    @CsvSource({"61, 61 s", "60, 60 s"})
    void aWaitLongerThanTheCallHasIsSaidAtOnceAndNeverCutShort(String retryAfter, String said) {
        provider.answers(Told.refused(429, "rate_limit_error", "retry-after", retryAfter));
        long start = System.nanoTime();
        ProviderException thrown = fixture.unserved(CallOptions.DEFAULT.withTotalTime(Duration.ofSeconds(30)));

        assertThat(Budget.since(start)).isLessThan(Duration.ofSeconds(5));
        assertThat(thrown).hasMessageContaining("sent again in " + said);
        assertThat(provider.requests).hasSize(1);
        assertThat(fixture.retries).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0", "''", "abc", "-5", "NaN"})
    void noWaitAndJunkAreABackoffAndNoBusyLoop(String retryAfter) throws Exception {
        provider.answers(Told.refused(429, "rate_limit_error", "retry-after", retryAfter), Told.served());
        assertThat(fixture.call().status()).isEqualTo(200);

        Duration pause = fixture.retries.get(0).pause();
        assertThat(pause).isBetween(Backoff.LEAST, Backoff.FIRST);
        assertThat(provider.requests).hasSize(2);
        assertThat(provider.requests.get(1).atNs() - provider.requests.get(0).atNs())
                .isGreaterThanOrEqualTo(pause.toNanos());
    }

    @Test
    void aDateAheadIsWaitedFor() {
        assertThat(heard("retry-after", date(30)).pause()).isBetween(Duration.ofSeconds(28), Duration.ofSeconds(30));
    }

    @Test
    void aDateInThePastIsABackoff() throws Exception {
        provider.answers(Told.refused(429, "rate_limit_error", "retry-after", date(-3_600)), Told.served());
        assertThat(fixture.call().status()).isEqualTo(200);
        assertThat(fixture.retries.get(0).pause()).isBetween(Backoff.LEAST, Backoff.FIRST);
    }

    private static String date(int secondsAhead) {
        return DateTimeFormatter.RFC_1123_DATE_TIME.format(
                ZonedDateTime.now(ZoneOffset.UTC).plusSeconds(secondsAhead));
    }

    @Test
    void millisecondsWin() throws Exception {
        provider.answers(
                Told.refused(429, "rate_limit_error", "retry-after-ms", "1500", "retry-after", "9"), Told.served());
        assertThat(fixture.call().status()).isEqualTo(200);
        assertThat(fixture.retries.get(0).pause()).isEqualTo(Duration.ofMillis(1_500));
        assertThat(provider.requests.get(1).atNs() - provider.requests.get(0).atNs())
                .isBetween(1_500_000_000L, 5_000_000_000L);
    }

    /** BaseIntelligence/bounty-challenge#5370: the reset of requests hid that of the tokens, minutes later. */
    @Test
    void theResetOfWhatRanOutCounts() {
        provider.answers(Told.of(
                429,
                """
                {"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}""",
                "x-ratelimit-remaining-requests",
                "40",
                "x-ratelimit-reset-requests",
                "17ms",
                "x-ratelimit-remaining-tokens",
                "0",
                "x-ratelimit-reset-tokens",
                "6m0s"));
        ProviderException thrown =
                fixture.unserved(CallOptions.DEFAULT.withTotalTime(MINUTE), OpenAi.PROFILE, fixture.sends());
        assertThat(thrown.rejection().waitFor()).isEqualTo(Duration.ofMinutes(6));
        assertThat(thrown).hasMessageContaining("sent again in 360 s").hasMessageContaining("60 s longer");
        assertThat(provider.requests).hasSize(1);
    }

    /** diegosouzapw/OmniRoute#9504: a minute's limit in frightening words, the delay with nine decimals in the body. */
    @Test
    void aDelayInTheBodyIsObeyed() {
        provider.answers(Told.of(429, """
                {"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.",
                 "status":"RESOURCE_EXHAUSTED","details":[
                  {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[
                    {"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},
                  {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"38.922534355s"}]}}"""));
        ProviderException thrown = fixture.unserved(
                CallOptions.DEFAULT.withTotalTime(Duration.ofSeconds(30)), Gemini.PROFILE, fixture.sends());
        assertThat(thrown.rejection().retryable()).isTrue();
        assertThat(thrown.rejection().waitFor()).isEqualTo(Duration.ofMillis(38_923));
        assertThat(thrown).hasMessageContaining("sent again in 39 s");
    }

    /** A pause is not one of those who hold a slot. */
    @Test
    void whoWaitsHoldsNoPermit() {
        provider.answers(Told.refused(500, "api_error", "retry-after", "60"));
        List<CompletableFuture<Response>> calls = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            calls.add(fixture.callAsync());
        }
        CallFixture.soon().until(() -> fixture.retries.size() == 4);
        Budget.take(fixture.project, CALL).cancel();
        calls.forEach(call -> call.cancel(true));
    }
}
