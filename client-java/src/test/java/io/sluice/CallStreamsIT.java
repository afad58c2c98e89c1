package io.sluice;

import static io.sluice.CallFixture.PROFILE;
import static io.sluice.ProviderStub.END;
import static io.sluice.ProviderStub.START;
import static io.sluice.ProviderStub.TEXT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.ProviderStub.Told;
import io.sluice.http.HttpSender;
import io.sluice.provider.OpenAi;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streamed answers: HTTP 200 is not success, and what came before one failed is paid for. */
@WithRedis
@Timeout(60)
class CallStreamsIT {
    /** It may answer what the streams here have. */
    private static final Call CALL = CallFixture.CALL.maxOutputTokens(50);

    private static final String OVERLOADED = "event: error\ndata: " + Told.error("overloaded_error") + "\n\n";
    private static final String LIMITED = "event: error\ndata: " + Told.error("rate_limit_error") + "\n\n";

    private final CallFixture fixture;
    private final ProviderStub provider;
    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();

    CallStreamsIT(RedisServer redis) {
        this.fixture = new CallFixture(redis);
        this.provider = fixture.provider;
        fixture.call = CALL;
    }

    @AfterEach
    void nothingIsLeft() {
        fixture.nothingIsLeft();
        fixture.close();
    }

    /** Hands on what comes. */
    private Sender handingOn() {
        return fixture.http.handingOn(seen::writeBytes).sends(attempt -> provider.request());
    }

    private String seen() {
        return seen.toString(StandardCharsets.UTF_8);
    }

    // ---- whole

    @Test
    void aStreamIsReadToItsEnd() throws Exception {
        provider.answers(Told.stream(START, TEXT, END));
        Response response = fixture.call();
        assertThat(response.body()).isEqualTo(START + TEXT + END);
        assertThat(response.reading().usageComplete()).isTrue();
        assertThat(fixture.charged()).isEqualTo("1 requests, 25 in, 15 out");
    }

    @Test
    void itsBytesAreHandedOnUnchangedAndNotKept() throws Exception {
        provider.answers(Told.stream(START, TEXT, END));
        Response response = fixture.project.call(CALL, PROFILE, handingOn());
        assertThat(seen()).isEqualTo(START + TEXT + END);
        assertThat(response.body()).isEmpty();
        assertThat(fixture.charged()).isEqualTo("1 requests, 25 in, 15 out");
    }

    @Test
    void anAnswerThatIsNoStreamIsKeptThoughThereIsAConsumer() throws Exception {
        provider.answers(Told.refused(500, "api_error", "retry-after-ms", "200"), Told.served());
        Response response = fixture.project.call(CALL, PROFILE, handingOn());
        assertThat(response.body()).isEqualTo(ProviderStub.SERVED);
        assertThat(seen()).isEmpty();
    }

    /** As a sender of one's own does it, with what comes as a stream of bytes. */
    @Test
    void aSenderOfOnesOwnReadsAStreamToo() throws Exception {
        provider.answers(Told.stream(START, TEXT, END));
        Response response = fixture.project.call(CALL, PROFILE, attempt -> {
            HttpResponse<InputStream> answer =
                    ProviderStub.client().send(provider.request(), BodyHandlers.ofInputStream());
            try (InputStream body = answer.body()) {
                return attempt.stream(answer.statusCode(), answer.headers().map(), seen::writeBytes)
                        .readAll(body);
            }
        });
        assertThat(response.reading().usage()).isEqualTo(new Usage(25, 0, 0, 15));
        assertThat(seen()).isEqualTo(START + TEXT + END);
    }

    // ---- failed inside

    /** Wei-Shaw/sub2api#5563: accepted with 200, then an error inside; nobody backed off. */
    @Test
    void anErrorInsteadOfAnAnswerIsARefusal() throws Exception {
        provider.answers(Told.stream(OVERLOADED), Told.stream(START, TEXT, END));
        assertThat(fixture.call().status()).isEqualTo(200);

        assertThat(fixture.retries)
                .singleElement()
                .satisfies(told -> assertThat(told.rejection().kind()).isEqualTo(Rejection.Kind.OVERLOAD));
        assertThat(fixture.charged()).isEqualTo("2 requests, 25 in, 15 out");
        assertThat(fixture.permits("settled")).as("the success metric").isEqualTo(1);
        assertThat(fixture.permits("throttled")).isEqualTo(1);
        assertThat(fixture.count("sluice.rejections", "kind", "overload")).isEqualTo(1);
    }

    @Test
    void anErrorInTheMiddleBooksWhatWasToldAndIsHandedOn() {
        provider.answers(Told.stream(START, TEXT, TEXT, LIMITED));
        ProviderException thrown = fixture.unserved(CallOptions.DEFAULT, PROFILE, handingOn());

        assertThat(seen()).isEqualTo(START + TEXT + TEXT + LIMITED);
        assertThat(provider.requests).hasSize(1);
        assertThat(thrown.rejection().kind()).isEqualTo(Rejection.Kind.REQUESTS);
        assertThat(thrown).hasMessageContaining("handed on already");
        assertThat(thrown.response().reading().usage().inputTokens()).isEqualTo(25);
        assertThat(fixture.charged()).as("40 letters came").isEqualTo("1 requests, 25 in, 10 out");
        assertThat(fixture.permits("settled")).isZero();
        assertThat(fixture.permits("throttled")).isEqualTo(1);
    }

    @Test
    void whoWantsItGetsTheStreamAnew() throws Exception {
        provider.answers(Told.stream(START, TEXT, OVERLOADED), Told.stream(START, TEXT, END));
        fixture.project.call(CALL, PROFILE, CallOptions.DEFAULT.withRestartedStreams(), handingOn());
        assertThat(seen()).isEqualTo(START + TEXT + OVERLOADED + START + TEXT + END);
        assertThat(fixture.charged()).isEqualTo("2 requests, 50 in, 20 out");
    }

    // ---- cut off

    @Test
    void whatCameOfAStreamThatWasCutIsBookedAndTheRequestSentAgain() throws Exception {
        provider.answers(Told.stream(START, TEXT, TEXT).broken(), Told.stream(START, TEXT, END));
        assertThat(fixture.call().body()).isEqualTo(START + TEXT + END);

        assertThat(provider.requests).hasSize(2);
        assertThat(fixture.retries)
                .singleElement()
                .satisfies(told -> assertThat(told.rejection()).isEqualTo(Failures.NO_ANSWER));
        assertThat(fixture.charged()).isEqualTo("2 requests, 50 in, 25 out");
    }

    /**
     * Providers tell usage at the end; what a reader that left early had been sent vanished from the budget (BerriAI/litellm#14457).
     * Of 400 and 450 reserved the difference comes back once.
     */
    @Test
    void whatAReaderThatLeftHadBeenSentIsBooked() throws Exception {
        Call large = Call.of("m-1").inputTokens(400).maxOutputTokens(450);
        try (Permit permit = fixture.project.acquire(large, Duration.ofSeconds(5))) {
            AnswerStream stream = PROFILE.stream(Answer.of(200, Instant.now()));
            stream.feed((START + TEXT.repeat(10)).getBytes(StandardCharsets.UTF_8));
            Reading reading = stream.end();
            assertThat(reading.usageComplete()).isFalse();
            assertThat(permit.settle(reading).already()).isFalse();
            assertThat(permit.settle(reading).already()).isTrue();
        }
        assertThat(fixture.charged()).isEqualTo("1 requests, 25 in, 50 out");
    }

    /** The same where nothing was told of usage, and of a text that is longer than its tokens. */
    @Test
    void whatCameIsBookedWhereNoUsageWasTold() {
        String chunk = "data: {\"choices\":[{\"delta\":{\"content\":\"twenty letters long!\"}}]}\n\n";
        provider.answers(
                Told.stream(chunk, chunk).broken(),
                Told.stream(chunk.repeat(40)).broken());
        for (int i = 0; i < 2; i++) {
            fixture.unserved(CallOptions.DEFAULT, OpenAi.PROFILE, handingOn());
        }
        assertThat(fixture.charged()).as("10, and 50 of 200").isEqualTo("2 requests, 20 in, 60 out");
    }

    /** Three letters are less than one token by their number, and still the consumer has seen them. */
    @Test
    void howeverLittleWasHandedOnItIsNotSentAgain() {
        provider.answers(
                Told.stream(START, TEXT.replace("twenty letters long!", "Hel")).broken(),
                Told.stream(START, TEXT, END));
        fixture.unserved(CallOptions.DEFAULT, PROFILE, handingOn());
        assertThat(provider.requests).hasSize(1);
    }

    @Test
    void aStreamThatWasCutAfterItWasHandedOnIsNotSentAgain() {
        provider.answers(Told.stream(START, TEXT).broken());
        ProviderException thrown = fixture.unserved(CallOptions.DEFAULT, PROFILE, handingOn());
        assertThat(provider.requests).hasSize(1);
        assertThat(thrown)
                .hasMessageContaining("no answer from the provider")
                .hasMessageContaining("handed on already")
                .hasCauseInstanceOf(IOException.class);
        assertThat(thrown.response().status()).isEqualTo(200);
        assertThat(fixture.charged()).isEqualTo("1 requests, 25 in, 5 out");
    }

    @Test
    void aStreamOfWhichOnlyTheHeadCameIsSentAgain() throws Exception {
        provider.answers(Told.stream(START).broken(), Told.stream(START, TEXT, END));
        fixture.project.call(CALL, PROFILE, handingOn());
        assertThat(seen()).isEqualTo(START + START + TEXT + END);
    }

    @Test
    void withoutBlockingACutIsTheSame() {
        provider.answers(Told.stream(START, TEXT, TEXT).broken(), Told.served());
        assertThat(fixture.callAsync())
                .succeedsWithin(5, TimeUnit.SECONDS)
                .satisfies(response -> assertThat(response.body()).isEqualTo(ProviderStub.SERVED));
        assertThat(fixture.charged()).isEqualTo("2 requests, 32 in, 13 out");
    }

    // ---- the consumer

    @Test
    void whatAConsumerThrowsEndsTheCall() {
        provider.answers(Told.stream(START, TEXT, END));
        IllegalStateException ours = new IllegalStateException("the window was closed");
        HttpSender http = fixture.http.handingOn(bytes -> {
            throw ours;
        });
        assertThatThrownBy(() -> fixture.project.call(CALL, PROFILE, http.sends(attempt -> provider.request())))
                .isSameAs(ours);
        assertThatThrownBy(() -> fixture.project
                        .callAsync(CALL, PROFILE, http.sendsAsync(attempt -> provider.request()))
                        .toCompletableFuture()
                        .join())
                .hasCause(ours);
        assertThat(provider.requests).hasSize(2);
    }

    /** Not when it is over: as it comes. */
    @Test
    void aConsumerSeesTheStartBeforeTheEndIsThere() throws Exception {
        CountDownLatch rest = new CountDownLatch(1);
        provider.answers(Told.stream(START).andThen(rest, TEXT + END));
        HttpSender http = fixture.http.handingOn(bytes -> {
            seen.writeBytes(bytes);
            rest.countDown();
        });
        fixture.project.call(CALL, PROFILE, http.sends(attempt -> provider.request()));
        assertThat(seen()).isEqualTo(START + TEXT + END);
    }

    @Test
    void aClientThatFollowsRedirectsIsNotTaken() {
        HttpClient follows = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NORMAL)
                .build();
        assertThatThrownBy(() -> HttpSender.of(follows))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("redirects");
    }
}
