package io.sluice.testbed.fleet;

import io.sluice.Sender;
import io.sluice.Usage;
import io.sluice.http.HttpSender;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** Where the calls go: a provider's API, with the headers that tell an emulator what to answer. */
final class Target {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

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
    private final HttpSender sender = HttpSender.of(http);
    private final String base;
    private final Wire wire;

    Target(URI base, Wire wire) {
        this.base = base.toString().replaceAll("/+$", "");
        this.wire = wire;
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
            http.send(HttpRequest.newBuilder(uri("m")).timeout(TIMEOUT).build(), BodyHandlers.discarding());
        } catch (IOException e) {
            throw new IllegalStateException("no answer from " + uri("m") + ": " + e, e);
        }
    }

    /** Completes with what came back, whatever it is. Cancelling the future aborts the request. */
    CompletableFuture<Answer> send(Work work) {
        CompletableFuture<HttpResponse<String>> response = http.sendAsync(request(work), BodyHandlers.ofString());
        CompletionStage<Answer> answer = response.thenApply(this::answer).exceptionallyCompose(Target::failed);
        return Linked.to(response, answer, late -> {});
    }

    /** The same as the library has it sent. */
    Sender.Async sender(Work work) {
        return sender.sendsAsync(attempt -> request(work));
    }

    private static CompletionStage<Answer> failed(Throwable e) {
        Throwable cause = Linked.cause(e);
        return cause instanceof IOException
                ? CompletableFuture.completedFuture(
                        new Answer.Failed(cause.getClass().getSimpleName()))
                : CompletableFuture.failedFuture(cause);
    }

    private Answer answer(HttpResponse<String> response) {
        int status = response.statusCode();
        if (status == 200) {
            return new Answer.Served(usage(response.body()));
        }
        return wire.isRejection(status, response.headers())
                ? new Answer.Rejected(Wire.retryAfter(response.headers(), response.body()))
                : new Answer.Failed("HTTP " + status);
    }

    private URI uri(String model) {
        return URI.create(base + wire.path(model));
    }

    private HttpRequest request(Work work) {
        String body = Json.MAPPER.writeValueAsString(wire.body(work));
        return HttpRequest.newBuilder(uri(work.model()))
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

    private Usage usage(String body) {
        try {
            return wire.usage(Json.MAPPER.readTree(body));
        } catch (JacksonException notJson) {
            return Usage.UNKNOWN;
        }
    }
}
