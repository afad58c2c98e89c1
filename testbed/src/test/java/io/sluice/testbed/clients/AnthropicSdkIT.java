package io.sluice.testbed.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCreateParams;
import io.sluice.CallOptions;
import io.sluice.ProviderException;
import io.sluice.Rejection;
import io.sluice.Response;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The official Anthropic SDK on the budget: every request that reaches the provider is charged, no more and no fewer. */
@WithRedis
@Timeout(60)
class AnthropicSdkIT {
    private static final String MODEL = "claude-example-1";
    private static final MessageCreateParams PARAMS = MessageCreateParams.builder()
            .model(MODEL)
            .maxTokens(50)
            .addUserMessage("Say hi")
            .build();

    private final Emulated emulated;
    private final AnthropicSdkExample sdk;

    AnthropicSdkIT(RedisServer redis) {
        emulated = new Emulated(redis, "anthropic", MODEL);
        sdk = new AnthropicSdkExample(emulated.project, emulated.uri().toString(), "key");
    }

    @AfterEach
    void close() {
        sdk.close();
        emulated.close();
    }

    private void eachIsCharged() {
        assertThat(emulated.charged()).isEqualTo(emulated.counted());
    }

    @Test
    void withItsRetriesOffOnlySluiceSendsAgain() throws Exception {
        emulated.behave("{\"overload\":{\"share\":0.5,\"retry-after\":\"1s\"}}");
        sdk.ask(emulated.call, PARAMS);
        Message message = sdk.ask(emulated.call, PARAMS);

        assertThat(message.content()).isNotEmpty();
        assertThat(message.usage().outputTokens()).isPositive();
        assertThat(emulated.counted()).isEqualTo(3);
        assertThat(emulated.retries)
                .singleElement()
                .satisfies(told -> assertThat(told.toString()).endsWith("retrying in 1 s"));
        eachIsCharged();
    }

    /** HKUDS/nanobot#2760, mpfaffenberger/code_puppy#317: twelve requests for one call, and one was charged. */
    @Test
    void withItsRetriesOnEachRequestIsChargedAndTheMostHolds() {
        emulated.behave("{\"overload\":{\"status\":429}}");
        ProviderException thrown = catchThrowableOfType(
                ProviderException.class,
                () -> sdk.askWithRetriesOfTheSdk(emulated.call, PARAMS, CallOptions.DEFAULT.withMaxAttempts(6)));

        assertThat(thrown.attempts()).isEqualTo(6);
        assertThat(thrown.rejection().kind()).isEqualTo(Rejection.Kind.REQUESTS);
        assertThat(emulated.counted()).as("two attempts of three requests").isEqualTo(6);
        eachIsCharged();
    }

    @Test
    void itsLastAttemptMayNotRepeatItself() {
        emulated.behave("{\"overload\":{\"status\":500}}");
        ProviderException thrown = catchThrowableOfType(
                ProviderException.class,
                () -> sdk.askWithRetriesOfTheSdk(emulated.call, PARAMS, CallOptions.DEFAULT.withMaxAttempts(1)));
        assertThat(thrown.attempts()).isEqualTo(1);
        assertThat(emulated.counted()).isEqualTo(1);
        eachIsCharged();
    }

    @Test
    void aStreamIsHandedOnAndBooked() throws Exception {
        ByteArrayOutputStream seen = new ByteArrayOutputStream();
        Response response = sdk.stream(emulated.call, PARAMS, seen::writeBytes);
        assertThat(response.reading().usageComplete()).isTrue();
        assertThat(seen.toString(StandardCharsets.UTF_8))
                .startsWith("event: message_start")
                .contains("message_stop");
        eachIsCharged();
    }

    @Test
    void aStreamThatFailsInsideIsAFailure() {
        emulated.behave("{\"stream-error\":\"after=2,kind=overload\"}");
        ByteArrayOutputStream seen = new ByteArrayOutputStream();
        ProviderException thrown = catchThrowableOfType(
                ProviderException.class, () -> sdk.stream(emulated.call, PARAMS, seen::writeBytes));
        assertThat(thrown.rejection().kind()).isEqualTo(Rejection.Kind.OVERLOAD);
        assertThat(thrown).hasMessageContaining("handed on already");
        assertThat(seen.toString(StandardCharsets.UTF_8)).contains("overloaded_error");
        eachIsCharged();
    }
}
