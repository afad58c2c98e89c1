package io.sluice.http;

import io.sluice.Attempt;
import io.sluice.Response;
import io.sluice.Sender;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Redirect;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests of calls with {@code java.net.http}: whole answers and streams of server-sent events, read as they come.
 * Immutable, thread-safe.
 *
 * <pre>{@code
 * HttpSender http = HttpSender.of(HttpClient.newHttpClient());
 * Response response = project.call(call, Anthropic.PROFILE, http.sends(attempt -> request));
 * }</pre>
 *
 * <p>Give the request a {@link HttpRequest.Builder#timeout timeout}: it bounds the wait for an answer's head. A connection cut in the
 * middle of an answer is a failure of that attempt; what came until then is booked. Answers are kept up to {@link
 * Attempt#MAX_BODY_BYTES}.
 */
public final class HttpSender {
    private final HttpClient client;
    private final @Nullable Consumer<byte[]> consumer;

    private HttpSender(HttpClient client, @Nullable Consumer<byte[]> consumer) {
        this.client = client;
        this.consumer = consumer;
    }

    /**
     * Sends with this client.
     *
     * @throws IllegalArgumentException if it follows redirects: that would send requests that nobody counts, and keys to
     *     hosts that nobody named
     */
    public static HttpSender of(HttpClient client) {
        if (client.followRedirects() != Redirect.NEVER) {
            throw new IllegalArgumentException(
                    "the client must not follow redirects (HttpClient.Redirect.NEVER, the default)");
        }
        return new HttpSender(client, null);
    }

    /**
     * The same, handing streamed answers on as they come: the bytes unchanged, errors inside included, on a thread of the
     * client. Then {@link Response#body} is empty, and a call is not sent again once text was handed on, unless
     * {@link io.sluice.CallOptions#restartsStreams()}.
     */
    public HttpSender handingOn(Consumer<byte[]> consumer) {
        return new HttpSender(client, consumer);
    }

    /** For {@link io.sluice.Project#call}; asks for the request at each attempt. */
    public Sender sends(Function<Attempt, HttpRequest> requests) {
        return attempt -> {
            HttpRequest request = requests.apply(attempt);
            attempt.sent(request.headers().map());
            AnswerHandler answers = new AnswerHandler(attempt, consumer);
            try {
                return client.send(request, answers).body();
            } catch (IOException e) {
                RuntimeException ours = answers.thrown();
                if (ours != null) {
                    throw ours;
                }
                throw e;
            }
        };
    }

    /** For {@link io.sluice.Project#callAsync}; asks for the request at each attempt. */
    public Sender.Async sendsAsync(Function<Attempt, HttpRequest> requests) {
        return attempt -> {
            HttpRequest request = requests.apply(attempt);
            attempt.sent(request.headers().map());
            AnswerHandler answers = new AnswerHandler(attempt, consumer);
            CompletableFuture<HttpResponse<Response>> exchange = client.sendAsync(request, answers);
            CompletableFuture<Response> answer = new CompletableFuture<>();
            exchange.whenComplete((response, e) -> {
                RuntimeException ours = answers.thrown();
                if (e == null) {
                    answer.complete(response.body());
                } else {
                    answer.completeExceptionally(ours == null ? e : ours);
                }
            });
            answer.whenComplete((response, e) -> exchange.cancel(true));
            return answer;
        };
    }
}
