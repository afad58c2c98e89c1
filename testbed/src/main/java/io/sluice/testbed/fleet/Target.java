package io.sluice.testbed.fleet;

import io.sluice.Usage;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/** Where the calls go: Anthropic's Messages API, with the headers that tell an emulator what to answer. */
final class Target {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int TOO_MANY_REQUESTS = 429;

    /** Few threads, however many calls are in flight: they only read headers and short bodies. */
    private static final int THREADS = 2;

    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS, task -> {
        Thread thread = new Thread(task, "target");
        thread.setDaemon(true);
        return thread;
    });
    private final HttpClient http = HttpClient.newBuilder()
            .executor(threads)
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
    private final URI messages;

    Target(URI base) {
        this.messages = URI.create(base.toString().replaceAll("/+$", "") + "/v1/messages");
    }

    /** What came back. */
    sealed interface Answer {
        record Served(Usage usage) implements Answer {}

        record Rejected(@Nullable Duration retryAfter) implements Answer {}

        /** Neither an answer nor a rejection; {@code why} in a few words. */
        record Failed(String why) implements Answer {}
    }

    /** Loads classes and opens the way, so that the first call is not slower than the rest. */
    void warmUp() throws InterruptedException {
        try {
            http.send(HttpRequest.newBuilder(messages).timeout(TIMEOUT).build(), BodyHandlers.discarding());
        } catch (IOException e) {
            throw new IllegalStateException("no answer from " + messages + ": " + e, e);
        }
    }

    /** Completes with what came back, whatever it is. Cancelling the future aborts the request. */
    CompletableFuture<Answer> send(Work work) {
        CompletableFuture<HttpResponse<String>> response = http.sendAsync(request(work), BodyHandlers.ofString());
        CompletionStage<Answer> answer = response.thenApply(Target::answer).exceptionallyCompose(Target::failed);
        return Linked.to(response, answer, late -> {});
    }

    private static CompletionStage<Answer> failed(Throwable e) {
        Throwable cause = Linked.cause(e);
        return cause instanceof IOException
                ? CompletableFuture.completedFuture(
                        new Answer.Failed(cause.getClass().getSimpleName()))
                : CompletableFuture.failedFuture(cause);
    }

    private static Answer answer(HttpResponse<String> response) {
        return switch (response.statusCode()) {
            case 200 -> new Answer.Served(usage(response.body()));
            case TOO_MANY_REQUESTS -> new Answer.Rejected(retryAfter(response));
            default -> new Answer.Failed("HTTP " + response.statusCode());
        };
    }

    private HttpRequest request(Work work) {
        String body = Json.MAPPER.writeValueAsString(Map.of(
                "model", work.model(),
                "max_tokens", work.maxOutput(),
                "messages", new Object[] {Map.of("role", "user", "content", "go on")}));
        return HttpRequest.newBuilder(messages)
                .timeout(TIMEOUT)
                .header("content-type", "application/json")
                .header("x-emulate-agent", work.agent())
                .header("x-emulate-input-tokens", String.valueOf(work.input()))
                .header("x-emulate-cache-read-tokens", String.valueOf(work.cacheRead()))
                .header("x-emulate-cache-write-tokens", "0")
                .header("x-emulate-output-tokens", String.valueOf(work.output()))
                .header("x-emulate-duration-ms", String.valueOf(work.durationMs()))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }

    private static Usage usage(String body) {
        try {
            JsonNode usage = Json.MAPPER.readTree(body).path("usage");
            return new Usage(
                    tokens(usage.path("input_tokens")),
                    tokens(usage.path("cache_read_input_tokens")),
                    tokens(usage.path("cache_creation_input_tokens")),
                    tokens(usage.path("output_tokens")));
        } catch (JacksonException notJson) {
            return Usage.UNKNOWN;
        }
    }

    private static @Nullable Long tokens(JsonNode number) {
        return number.isNumber() ? Long.valueOf(number.asLong()) : null;
    }

    private static @Nullable Duration retryAfter(HttpResponse<?> response) {
        return response.headers()
                .firstValue("retry-after")
                .filter(seconds -> seconds.matches("\\d{1,6}"))
                .map(seconds -> Duration.ofSeconds(Long.parseLong(seconds)))
                .orElse(null);
    }
}
