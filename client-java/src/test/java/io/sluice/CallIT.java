package io.sluice;

import static io.sluice.CallFixture.CALL;
import static io.sluice.CallFixture.PROFILE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.ProviderStub.Told;
import io.sluice.provider.OpenAi;
import io.sluice.testbed.redis.Fault;
import io.sluice.testbed.redis.FaultyProxy;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls from their permit to their answer: served, sent again, given up, and what each was charged. */
@WithRedis
@Tag("contract")
@Timeout(60)
class CallIT {
    private static final Told AGAIN = Told.refused(500, "api_error", "retry-after-ms", "200");

    private final RedisServer redis;
    private final CallFixture fixture;
    private final ProviderStub provider;

    CallIT(RedisServer redis) {
        this.redis = redis;
        this.fixture = new CallFixture(redis);
        this.provider = fixture.provider;
    }

    @AfterEach
    void nothingIsLeft() {
        fixture.nothingIsLeft();
        fixture.close();
    }

    // ---- served

    @Test
    void aCallIsServedAndChargedWhatItUsed() throws Exception {
        provider.answers(Told.served());
        Response response = fixture.call();

        assertThat(response.status()).isEqualTo(200);
        assertThat(response.body()).isEqualTo(ProviderStub.SERVED);
        assertThat(response.headers()).containsKey("content-type");
        assertThat(response.reading().usage()).isEqualTo(new Usage(7, 0, 0, 3));
        assertThat(fixture.charged()).isEqualTo("1 requests, 7 in, 3 out");
        assertThat(fixture.retries).isEmpty();
    }

    @Test
    void withoutBlockingItIsTheSame() {
        provider.answers(AGAIN, Told.served());
        assertThat(fixture.callAsync())
                .succeedsWithin(5, TimeUnit.SECONDS)
                .satisfies(response -> assertThat(response.status()).isEqualTo(200));
        assertThat(fixture.charged()).isEqualTo("2 requests, 7 in, 3 out");
    }

    /** devops-thiago/ThrillhouseBot#857: usage was not there, the listener threw, and nothing was booked. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"input_tokens\":0,\"cache_read_input_tokens\":0,\"cache_creation_input_tokens\":0,\"output_tokens\":0} | 1 requests, 0 in, 0 out",
                "null | 1 requests, 10 in, 5 out",
                "{\"input_tokens\":null,\"output_tokens\":null} | 1 requests, 10 in, 5 out",
                "{\"input_tokens\":7} | 1 requests, 7 in, 5 out"
            })
    void zeroNullAndMissingUsageAreThreeThings(String usage, String charged) throws Exception {
        provider.answers(Told.of(200, "{\"type\":\"message\",\"usage\":" + usage + "}"));
        fixture.call();
        assertThat(fixture.charged()).isEqualTo(charged);
        assertThat(fixture.count("sluice.usage.missing")).isEqualTo(usage.contains(":0") ? 0 : 1);
    }

    /** The answer is there: that Redis cannot be told takes nothing from it. */
    @Test
    void anAnswerReachesItsCallerThoughRedisDoesNotAnswer() throws Exception {
        try (FaultyProxy wire = FaultyProxy.to(redis);
                CallFixture other = new CallFixture(wire.uri(), redis.uri())) {
            other.provider.answers(Told.served());
            Response response = other.project.call(CALL, PROFILE, attempt -> {
                Response answer = other.sends().send(attempt);
                wire.set(new Fault.Hold(false, true));
                return answer;
            });
            assertThat(response.status()).isEqualTo(200);
            wire.cut();
            wire.heal();
            other.nothingIsLeft();
            assertThat(other.charged()).isEqualTo("1 requests, 7 in, 3 out");
        }
    }

    // ---- sent again

    @Test
    void onlyTheRefusedRequestIsSentAgain() throws Exception {
        provider.answers(Told.refused(429, "rate_limit_error", "retry-after-ms", "400"), Told.served());
        assertThat(fixture.call().status()).isEqualTo(200);

        assertThat(provider.requests).hasSize(2);
        assertThat(apart(0)).isGreaterThanOrEqualTo(Duration.ofMillis(400));
        assertThat(fixture.charged())
                .as("a refused request counts, its tokens do not")
                .isEqualTo("2 requests, 7 in, 3 out");
        assertThat(fixture.retries).singleElement().satisfies(told -> {
            assertThat(told).hasToString("waiting on " + fixture.id + ", retrying in 1 s");
            assertThat(told.pause()).isEqualTo(Duration.ofMillis(400));
            assertThat(told.attempt()).isEqualTo(1);
            assertThat(told.rejection().kind()).isEqualTo(Rejection.Kind.REQUESTS);
        });
    }

    /** tombii/better-ccflare#236: an overloaded provider says nothing of our budget. */
    @Test
    void overloadIsWaitedForAndCutsNoLimit() throws Exception {
        Told overloaded = Told.refused(529, "overloaded_error");
        provider.answers(overloaded, overloaded, Told.served());
        assertThat(fixture.call().status()).isEqualTo(200);

        assertThat(fixture.charged()).isEqualTo("3 requests, 7 in, 3 out");
        assertThat(fixture.retries)
                .extracting(told -> told.rejection().kind())
                .containsExactly(Rejection.Kind.OVERLOAD, Rejection.Kind.OVERLOAD);
        assertThat(fixture.retries.get(0).pause()).isBetween(Backoff.LEAST, Backoff.FIRST);
        assertThat(fixture.retries.get(1).pause()).isBetween(Backoff.LEAST, Backoff.FIRST.multipliedBy(2));
        assertThat(apart(0)).isGreaterThanOrEqualTo(fixture.retries.get(0).pause());
        assertThat(apart(1)).isGreaterThanOrEqualTo(fixture.retries.get(1).pause());
    }

    /** An id names one permit; what is sent again has another. */
    @Test
    void aCallWithAnIdIsSentAgainToo() throws Exception {
        provider.answers(AGAIN, Told.served());
        assertThat(fixture.project
                        .call(CALL.id("job-1"), PROFILE, fixture.sends())
                        .status())
                .isEqualTo(200);
        assertThat(Budget.refusal(fixture.project, CALL.id("job-1")).kind()).isEqualTo(Refusal.Kind.ENDED);
    }

    @Test
    void aPolicyThatOnlyWatchesDoesNotMakeItHasty() throws Exception {
        fixture.sluice.install(fixture.policy("shadow"));
        provider.answers(Told.refused(429, "rate_limit_error", "retry-after-ms", "300"), Told.served());
        assertThat(fixture.call().status()).isEqualTo(200);
        assertThat(apart(0)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
    }

    private Duration apart(int first) {
        return Duration.ofNanos(provider.requests.get(first + 1).atNs()
                - provider.requests.get(first).atNs());
    }

    // ---- given up

    /** langchain-ai/langchainjs#1929: no money left was retried like a rate limit. */
    @Test
    void anEmptyAccountIsSaidAtOnce() {
        provider.answers(Told.of(429, """
                {"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"""));
        ProviderException thrown = fixture.unserved(CallOptions.DEFAULT, OpenAi.PROFILE, fixture.sends());

        assertThat(provider.requests).hasSize(1);
        assertThat(thrown)
                .hasMessageContainingAll(fixture.id, "no credits left", "operator", "HTTP 429", "not sent again");
        assertThat(thrown.rejection().kind()).isEqualTo(Rejection.Kind.CREDITS);
        assertThat(thrown.attempts()).isEqualTo(1);
        assertThat(thrown.response()).isNotNull();
        assertThat(fixture.retries).isEmpty();
        assertThat(fixture.charged()).isEqualTo("1 requests, 0 in, 0 out");
    }

    @ParameterizedTest
    @CsvSource({
        "400, invalid_request_error",
        "401, authentication_error",
        "403, permission_error",
        "404, not_found_error",
        "413, request_too_large",
        "307, redirect"
    })
    void whatTheProviderDoesNotAcceptIsNotSentAgain(int status, String type) {
        provider.answers(Told.refused(status, type, "location", "/elsewhere"));
        ProviderException thrown = fixture.unserved(CallOptions.DEFAULT);

        assertThat(provider.requests).hasSize(1);
        assertThat(thrown.rejection().kind()).isEqualTo(Rejection.Kind.INVALID);
        assertThat(thrown).hasMessageContaining("HTTP " + status);
        assertThat(fixture.charged()).isEqualTo("1 requests, 0 in, 0 out");
    }

    @Test
    void attemptsAreCounted() {
        provider.answers(AGAIN);
        ProviderException thrown = fixture.unserved(CallOptions.DEFAULT.withMaxAttempts(3));

        assertThat(provider.requests).hasSize(3);
        assertThat(thrown).hasMessageContaining("3 requests of at most 3").hasMessageContaining("HTTP 500");
        assertThat(thrown.attempts()).isEqualTo(3);
        assertThat(fixture.charged()).isEqualTo("3 requests, 0 in, 0 out");
        assertThat(fixture.permits("settled")).isZero();
    }

    @Test
    void timeIsLimited() {
        provider.answers(Told.refused(500, "api_error", "retry-after-ms", "700"));
        long start = System.nanoTime();
        ProviderException thrown = fixture.unserved(CallOptions.DEFAULT.withTotalTime(Duration.ofSeconds(2)));

        assertThat(Budget.since(start)).isLessThan(Duration.ofSeconds(2));
        assertThat(provider.requests).hasSize(3);
        assertThat(thrown).hasMessageContaining("1 s");
    }

    /** No longer than the policy lets calls wait, whatever its caller says. */
    @Test
    void thePolicyLimitsTheTimeToo() {
        provider.answers(Told.refused(429, "rate_limit_error", "retry-after", "130"));
        ProviderException thrown = fixture.unserved(CallOptions.DEFAULT.withTotalTime(Duration.ofDays(1)));
        assertThat(thrown).hasMessageContaining("sent again in 130 s").hasMessageContaining("120 s");
    }

    @Test
    void withoutAPermitNothingIsSent() {
        provider.answers(Told.served());
        List<Permit> all = Stream.generate(() -> Budget.take(fixture.project, CALL))
                .limit(4)
                .toList();
        assertThatThrownBy(() -> fixture.call(CallOptions.DEFAULT.withTotalTime(Duration.ofMillis(100))))
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("concurrency");
        assertThat(provider.requests).isEmpty();
        all.forEach(Permit::cancel);
    }

    // ---- what a sender does

    @Test
    void aFailedConnectionIsAFailureOfThisRequest() throws Exception {
        provider.answers(Told.served());
        AtomicInteger tries = new AtomicInteger();
        Response response = fixture.project.call(CALL, PROFILE, attempt -> {
            if (tries.incrementAndGet() == 1) {
                throw new IOException("reset");
            }
            return fixture.sends().send(attempt);
        });
        assertThat(response.status()).isEqualTo(200);
        assertThat(fixture.retries).singleElement().satisfies(told -> {
            assertThat(told.rejection()).isEqualTo(Failures.NO_ANSWER);
            assertThat(told.pause()).isBetween(Backoff.LEAST, Backoff.FIRST);
        });
        assertThat(fixture.charged()).as("nobody knows what the first one used").isEqualTo("2 requests, 17 in, 8 out");
    }

    @Test
    void whereNobodyListensNothingWasSent() throws Exception {
        URI nowhere;
        try (ServerSocket socket = new ServerSocket(0)) {
            nowhere = URI.create("http://127.0.0.1:" + socket.getLocalPort() + "/");
        }
        HttpRequest request = HttpRequest.newBuilder(nowhere).build();
        ProviderException thrown = fixture.unserved(
                CallOptions.DEFAULT.withMaxAttempts(2), PROFILE, fixture.http.sends(attempt -> request));
        assertThat(thrown).hasMessageContaining("no answer from the provider").hasCauseInstanceOf(IOException.class);
        assertThat(thrown.response()).isNull();
        assertThat(fixture.charged()).isEqualTo("0 requests, 0 in, 0 out");
    }

    @Test
    void whatItThrowsIsThrownOnAndTheEstimateCharged() {
        IllegalStateException ours = new IllegalStateException("bug");
        assertThatThrownBy(() -> fixture.project.call(CALL, PROFILE, attempt -> {
                    throw ours;
                }))
                .isSameAs(ours);
        assertThat(fixture.charged()).isEqualTo("1 requests, 10 in, 5 out");
    }

    @Test
    void whatIsKnownOfTheAnswerIsChargedWhateverItThrows() {
        provider.answers(Told.served());
        assertThatThrownBy(() -> fixture.project.call(CALL, PROFILE, attempt -> {
                    fixture.sends().send(attempt);
                    throw new AssertionError("cannot parse this");
                }))
                .isInstanceOf(AssertionError.class);
        assertThat(fixture.charged()).isEqualTo("1 requests, 7 in, 3 out");
    }

    @Test
    void itMustReturnAnAnswer() {
        assertThatThrownBy(() -> fixture.project.call(CALL, PROFILE, attempt -> null))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("sender");
    }

    // ---- every request counts

    /** HKUDS/nanobot#2760: one reservation, many requests. */
    @Test
    void anSdkThatRepeatsRequestsByItselfPaysForEach() throws Exception {
        provider.answers(Told.served());
        fixture.project.call(CALL, PROFILE, attempt -> {
            attempt.sent(Map.of("X-Stainless-Retry-Count", List.of("0")));
            attempt.sent(Map.of("X-Stainless-Retry-Count", List.of("1")));
            return attempt.answered(200, Map.of(), ProviderStub.SERVED);
        });
        assertThat(fixture.charged()).isEqualTo("2 requests, 7 in, 3 out");
        assertThat(fixture.count("sluice.resends", "project", fixture.id)).isEqualTo(1);
    }

    @Test
    void requestsThatItDoesNotTellOfAreCountedByWhatTheLastOneSays() throws Exception {
        fixture.project.call(CALL, PROFILE, attempt -> {
            attempt.sent(Map.of("x-stainless-retry-count", List.of("2")));
            return attempt.answered(200, Map.of(), ProviderStub.SERVED);
        });
        assertThat(fixture.charged()).isEqualTo("3 requests, 7 in, 3 out");
        assertThat(fixture.count("sluice.resends", "project", fixture.id)).isEqualTo(2);
    }

    /** Retries of ours around retries of an SDK: the number that was configured bounds both together. */
    @Test
    void requestsOfAnSdkCountTowardTheMostThatMayBeSent() {
        AtomicInteger sent = new AtomicInteger();
        ProviderException thrown = fixture.unserved(CallOptions.DEFAULT.withMaxAttempts(8), PROFILE, attempt -> {
            for (int i = 0; i < Math.min(3, attempt.left()); i++) {
                sent.incrementAndGet();
                attempt.sent(Map.of("x-stainless-retry-count", List.of(String.valueOf(i))));
            }
            return attempt.answered(500, Map.of("retry-after-ms", List.of("1")), "");
        });
        assertThat(sent).hasValue(6);
        assertThat(thrown.attempts()).isEqualTo(6);
        assertThat(fixture.charged()).isEqualTo("6 requests, 0 in, 0 out");
    }
}
