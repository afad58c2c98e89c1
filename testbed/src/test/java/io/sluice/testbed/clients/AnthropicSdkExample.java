package io.sluice.testbed.clients;

import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.ObjectMappers;
import com.anthropic.core.http.Headers;
import com.anthropic.core.http.HttpResponseFor;
import com.anthropic.core.http.Interceptor;
import com.anthropic.core.http.StreamResponse;
import com.anthropic.errors.AnthropicIoException;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.RawMessageStreamEvent;
import io.sluice.Attempt;
import io.sluice.Call;
import io.sluice.CallOptions;
import io.sluice.Project;
import io.sluice.Response;
import io.sluice.provider.Anthropic;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The Anthropic Java SDK, as docs/clients.md shows it. */
final class AnthropicSdkExample implements AutoCloseable {
    private final Project project;
    private final AnthropicClient client;

    AnthropicSdkExample(Project project, String url, String key) {
        this.project = project;
        this.client = client(url, key);
    }

    // docs: Anthropic SDK
    private static AnthropicClient client(String url, String key) {
        return AnthropicOkHttpClient.builder()
                .baseUrl(url)
                .apiKey(key)
                .maxRetries(0)
                .build();
    }

    Message ask(Call call, MessageCreateParams params) throws Exception {
        Response response = project.call(call, Anthropic.PROFILE, attempt -> send(client, params, attempt));
        return ObjectMappers.jsonMapper().readValue(response.body(), Message.class);
    }

    private static Response send(AnthropicClient client, MessageCreateParams params, Attempt attempt)
            throws IOException {
        try (HttpResponseFor<Message> answer =
                client.messages().withRawResponse().create(params)) {
            String body = new String(answer.body().readAllBytes(), StandardCharsets.UTF_8);
            return attempt.answered(answer.statusCode(), map(answer.headers()), body);
        } catch (AnthropicServiceException e) {
            return refused(e, attempt);
        } catch (AnthropicIoException e) {
            throw new IOException(e);
        }
    }

    private static Response refused(AnthropicServiceException e, Attempt attempt) throws IOException {
        String body = ObjectMappers.jsonMapper().writeValueAsString(e.body());
        return attempt.answered(e.statusCode(), map(e.headers()), body);
    }

    private static Map<String, List<String>> map(Headers headers) {
        return headers.names().stream().collect(Collectors.toMap(Function.identity(), headers::values));
    }
    // end

    // docs: Anthropic SDK, streamed
    Response stream(Call call, MessageCreateParams params, Consumer<byte[]> consumer) throws InterruptedException {
        return project.call(call, Anthropic.PROFILE, attempt -> {
            try (HttpResponseFor<StreamResponse<RawMessageStreamEvent>> answer =
                    client.messages().withRawResponse().createStreaming(params)) {
                return attempt.stream(answer.statusCode(), map(answer.headers()), consumer)
                        .readAll(answer.body());
            } catch (AnthropicServiceException e) {
                return refused(e, attempt);
            } catch (AnthropicIoException e) {
                throw new IOException(e);
            }
        });
    }
    // end

    // docs: Anthropic SDK, its own retries on
    Response askWithRetriesOfTheSdk(Call call, MessageCreateParams params, CallOptions options)
            throws InterruptedException {
        return project.call(call, Anthropic.PROFILE, options, attempt -> {
            AnthropicClient counted = client.withOptions(o -> o.maxRetries(Math.min(2, attempt.left() - 1))
                    .addInterceptor(Interceptor.syncOnly((http, request, requestOptions) -> {
                        attempt.sent(map(request.headers()));
                        return http.execute(request, requestOptions);
                    })));
            return send(counted, params, attempt);
        });
    }
    // end

    @Override
    public void close() {
        client.close();
    }
}
