package io.sluice.testbed.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
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

/** The official OpenAI SDK on the budget: every request that reaches the provider is charged, no more and no fewer. */
@WithRedis
@Timeout(60)
class OpenAiSdkIT {
    private static final String MODEL = "gpt-example-1";
    private static final ChatCompletionCreateParams PARAMS = ChatCompletionCreateParams.builder()
            .model(MODEL)
            .maxCompletionTokens(50)
            .addUserMessage("Say hi")
            .build();

    private final Emulated emulated;
    private final OpenAiSdkExample sdk;

    OpenAiSdkIT(RedisServer redis) {
        emulated = new Emulated(redis, "openai", MODEL);
        sdk = new OpenAiSdkExample(
                emulated.project, emulated.uri().resolve("/v1").toString(), "key");
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
        ChatCompletion completion = sdk.ask(emulated.call, PARAMS);

        assertThat(completion.choices()).isNotEmpty();
        assertThat(completion.usage()).isPresent();
        assertThat(emulated.counted()).isEqualTo(3);
        assertThat(emulated.retries)
                .singleElement()
                .satisfies(told -> assertThat(told.toString()).endsWith("retrying in 1 s"));
        eachIsCharged();
    }

    /** HKUDS/nanobot#2760, mpfaffenberger/code_puppy#317: twelve requests for one call, and one was charged. */
    @Test
    void withItsRetriesOnEachRequestIsChargedAndTheMostHolds() {
        emulated.behave("{\"overload\":{\"status\":500}}");
        ProviderException thrown = catchThrowableOfType(
                ProviderException.class,
                () -> sdk.askWithRetriesOfTheSdk(emulated.call, PARAMS, CallOptions.DEFAULT.withMaxAttempts(6)));

        assertThat(thrown.attempts()).isEqualTo(6);
        assertThat(thrown.rejection().kind()).isEqualTo(Rejection.Kind.SERVER);
        assertThat(emulated.counted()).as("two attempts of three requests").isEqualTo(6);
        eachIsCharged();
    }

    /** langchain-ai/langchainjs#1929 */
    @Test
    void anEmptyAccountIsSaidAtOnce() {
        emulated.behave("{\"spend\":\"as=credits,spent=true\"}");
        ProviderException thrown = catchThrowableOfType(ProviderException.class, () -> sdk.ask(emulated.call, PARAMS));
        assertThat(thrown.rejection().kind()).isEqualTo(Rejection.Kind.CREDITS);
        assertThat(emulated.counted()).isEqualTo(1);
        assertThat(emulated.retries).isEmpty();
    }

    @Test
    void aStreamIsHandedOnAndBooked() throws Exception {
        ChatCompletionCreateParams withUsage = PARAMS.toBuilder()
                .streamOptions(
                        ChatCompletionStreamOptions.builder().includeUsage(true).build())
                .build();
        ByteArrayOutputStream seen = new ByteArrayOutputStream();
        Response response = sdk.stream(emulated.call, withUsage, seen::writeBytes);
        assertThat(response.reading().usageComplete()).isTrue();
        assertThat(seen.toString(StandardCharsets.UTF_8)).contains("data: [DONE]");
        eachIsCharged();
    }
}
