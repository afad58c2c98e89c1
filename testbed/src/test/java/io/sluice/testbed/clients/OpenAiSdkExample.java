package io.sluice.testbed.clients;

import com.openai.client.OpenAIClient;
import com.openai.client.OpenAIClientImpl;
import com.openai.client.okhttp.OkHttpClient;
import com.openai.core.ClientOptions;
import com.openai.core.ObjectMappers;
import com.openai.core.RequestOptions;
import com.openai.core.http.Headers;
import com.openai.core.http.HttpClient;
import com.openai.core.http.HttpRequest;
import com.openai.core.http.HttpResponse;
import com.openai.core.http.HttpResponseFor;
import com.openai.core.http.StreamResponse;
import com.openai.errors.OpenAIIoException;
import com.openai.errors.OpenAIServiceException;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import io.sluice.Attempt;
import io.sluice.Call;
import io.sluice.CallOptions;
import io.sluice.Project;
import io.sluice.Response;
import io.sluice.provider.OpenAi;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The OpenAI Java SDK, as docs/clients.md shows it. */
final class OpenAiSdkExample implements AutoCloseable {
    private final Project project;
    private final HttpClient http = OkHttpClient.builder().build();
    private final OpenAIClient client;

    OpenAiSdkExample(Project project, String url, String key) {
        this.project = project;
        this.client = client(http, url, key);
    }

    // docs: OpenAI SDK
    private static OpenAIClient client(HttpClient http, String url, String key) {
        ClientOptions options = ClientOptions.builder()
                .httpClient(http)
                .baseUrl(url)
                .apiKey(key)
                .maxRetries(0)
                .build();
        return new OpenAIClientImpl(options);
    }

    ChatCompletion ask(Call call, ChatCompletionCreateParams params) throws Exception {
        Response response = project.call(call, OpenAi.PROFILE, attempt -> send(client, params, attempt));
        return ObjectMappers.jsonMapper().readValue(response.body(), ChatCompletion.class);
    }

    private static Response send(OpenAIClient client, ChatCompletionCreateParams params, Attempt attempt)
            throws IOException {
        try (HttpResponseFor<ChatCompletion> answer =
                client.chat().completions().withRawResponse().create(params)) {
            String body = new String(answer.body().readAllBytes(), StandardCharsets.UTF_8);
            return attempt.answered(answer.statusCode(), map(answer.headers()), body);
        } catch (OpenAIServiceException e) {
            return refused(e, attempt);
        } catch (OpenAIIoException e) {
            throw new IOException(e);
        }
    }

    private static Response refused(OpenAIServiceException e, Attempt attempt) throws IOException {
        // The SDK keeps what stands under "error".
        String body = "{\"error\":" + ObjectMappers.jsonMapper().writeValueAsString(e.body()) + "}";
        return attempt.answered(e.statusCode(), map(e.headers()), body);
    }

    private static Map<String, List<String>> map(Headers headers) {
        return headers.names().stream().collect(Collectors.toMap(Function.identity(), headers::values));
    }
    // end

    // docs: OpenAI SDK, streamed
    Response stream(Call call, ChatCompletionCreateParams params, Consumer<byte[]> consumer)
            throws InterruptedException {
        return project.call(call, OpenAi.PROFILE, attempt -> {
            try (HttpResponseFor<StreamResponse<ChatCompletionChunk>> answer =
                    client.chat().completions().withRawResponse().createStreaming(params)) {
                return attempt.stream(answer.statusCode(), map(answer.headers()), consumer)
                        .readAll(answer.body());
            } catch (OpenAIServiceException e) {
                return refused(e, attempt);
            } catch (OpenAIIoException e) {
                throw new IOException(e);
            }
        });
    }
    // end

    // docs: OpenAI SDK, its own retries on
    Response askWithRetriesOfTheSdk(Call call, ChatCompletionCreateParams params, CallOptions options)
            throws InterruptedException {
        return project.call(call, OpenAi.PROFILE, options, attempt -> {
            OpenAIClient counted = client.withOptions(
                    o -> o.maxRetries(Math.min(2, attempt.left() - 1)).httpClient(new Counted(http, attempt)));
            return send(counted, params, attempt);
        });
    }

    /** Tells each request that the SDK sends. */
    private record Counted(HttpClient http, Attempt attempt) implements HttpClient {
        @Override
        public HttpResponse execute(HttpRequest request, RequestOptions options) {
            attempt.sent(map(request.headers()));
            return http.execute(request, options);
        }

        @Override
        public CompletableFuture<HttpResponse> executeAsync(HttpRequest request, RequestOptions options) {
            attempt.sent(map(request.headers()));
            return http.executeAsync(request, options);
        }

        /** The client under it serves other calls too. */
        @Override
        public void close() {}
    }
    // end

    @Override
    public void close() {
        client.close();
    }
}
