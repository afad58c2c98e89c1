package io.sluice.testbed.fleet;

import io.sluice.Permit;
import io.sluice.Usage;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * {@link Strategy#SLUICE} as agents in other languages have it: permits from a server, over HTTP. The call's own time is short
 * of a third of any lease, or its permit is renewed meanwhile.
 */
final class HttpAdmission implements Admission {
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);
    private static final Duration PATIENCE = LONGEST_WAIT.plusSeconds(30);
    private static final int TRIES = 5;
    private static final int PAUSE_MS = 100;

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
    private final String permits;

    HttpAdmission(URI server, String project) {
        permits = server.toString().replaceAll("/+$", "") + "/v1/projects/" + project + "/permits";
    }

    @Override
    public CompletableFuture<Ticket> admit(Work work) {
        Map<String, Object> ask = ask(work);
        ask.put("id", UUID.randomUUID().toString());
        CompletableFuture<Ticket> result = new CompletableFuture<>();
        ask(ask, result);
        return result;
    }

    /** 503 is told by a server that stops or whose Redis is out: the same question is asked again and keeps its place. */
    private void ask(Map<String, Object> ask, CompletableFuture<Ticket> result) {
        CompletableFuture<HttpResponse<String>> asking = sent("POST", "", ask);
        // Hanging up tells the server that nobody waits any more.
        result.whenComplete((ticket, e) -> asking.cancel(true));
        asking.whenComplete((response, e) -> {
            if (e != null) {
                result.completeExceptionally(Linked.cause(e));
            } else if (response.statusCode() == 503 && !result.isDone()) {
                CompletableFuture.delayedExecutor(PAUSE_MS, TimeUnit.MILLISECONDS)
                        .execute(() -> ask(ask, result));
            } else if (response.statusCode() / 100 != 2) {
                result.completeExceptionally(refused(response));
            } else {
                OnLease granted = new OnLease(read(response));
                if (!result.complete(granted)) {
                    var unused = granted.unsent();
                }
            }
        });
    }

    private static NoPermit refused(HttpResponse<String> response) {
        return new NoPermit(response.statusCode(), read(response).path("kind").asString("unknown"));
    }

    /** Asks for more than any budget holds, and where input has no limit gives it back. */
    @Override
    public void warmUp(Work work) {
        Ticket ticket = sent("POST", "", ask(work.with(Integer.MAX_VALUE)))
                .<@Nullable Ticket>thenApply(
                        response -> response.statusCode() / 100 == 2 ? new OnLease(read(response)) : null)
                .join();
        if (ticket != null) {
            ticket.unsent().toCompletableFuture().join();
        }
    }

    @Override
    public Duration pause(int rejections, @Nullable Duration retryAfter) {
        return Backoff.pause(rejections, retryAfter, ThreadLocalRandom.current()::nextDouble);
    }

    @Override
    public void close() {}

    private static Map<String, Object> ask(Work work) {
        Map<String, Object> ask = new LinkedHashMap<>();
        ask.put("model", work.model());
        ask.put("input_tokens", work.input());
        ask.put("cache_read_tokens", work.cacheRead());
        ask.put("max_output_tokens", work.maxOutput());
        ask.put("agent", work.agent());
        ask.put("priority", work.priority().label());
        ask.put("max_wait_ms", LONGEST_WAIT.toMillis());
        if (work.team() != null) {
            ask.put("team", work.team());
        }
        if (work.workspace() != null) {
            ask.put("workspace", work.workspace());
        }
        return ask;
    }

    private CompletableFuture<HttpResponse<String>> sent(String method, String path, @Nullable Object body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(permits + path))
                .timeout(PATIENCE)
                .header("content-type", "application/json")
                .method(
                        method,
                        body == null
                                ? BodyPublishers.noBody()
                                : BodyPublishers.ofString(Json.MAPPER.writeValueAsString(body)))
                .build();
        return http.sendAsync(request, BodyHandlers.ofString());
    }

    private static JsonNode read(HttpResponse<String> response) {
        return Json.MAPPER.readTree(response.body().isEmpty() ? "{}" : response.body());
    }

    /** The server said no. */
    static final class NoPermit extends RuntimeException {
        private static final long serialVersionUID = 1;

        NoPermit(int status, String kind) {
            super("HTTP " + status + " " + kind);
        }
    }

    /** A permit that is renewed until it ends. */
    private final class OnLease implements Ticket {
        private final String handle;
        private final String modelClass;
        private final CompletableFuture<Void> ended = new CompletableFuture<>();

        OnLease(JsonNode granted) {
            handle = granted.path("permit").asString();
            modelClass = granted.path("class").asString();
            renewAfter(Math.max(1, granted.path("lease_ms").asLong() / 3));
        }

        @Override
        public String modelClass() {
            return modelClass;
        }

        @Override
        public CompletionStage<Charge> settled(Usage usage) {
            Map<String, @Nullable Long> used = new LinkedHashMap<>();
            used.put("input_tokens", usage.inputTokens());
            used.put("cache_read_tokens", usage.cacheReadTokens());
            used.put("cache_write_tokens", usage.cacheWriteTokens());
            used.put("output_tokens", usage.outputTokens());
            return end("POST", "/settle", Map.of("usage", used));
        }

        @Override
        public CompletionStage<Charge> rejected(@Nullable Duration retryAfter) {
            return end(
                    "POST",
                    "/settle",
                    Map.of(
                            "status",
                            429,
                            "headers",
                            retryAfter == null
                                    ? Map.of()
                                    : Map.of("retry-after", String.valueOf((retryAfter.toMillis() + 999) / 1_000))));
        }

        @Override
        public CompletionStage<Charge> unsent() {
            return end("DELETE", "", null);
        }

        private CompletionStage<Charge> end(String method, String path, @Nullable Object body) {
            ended.complete(null);
            return end(method, path, body, 1);
        }

        /** Said twice it counts once, so a lost answer is asked for again. */
        private CompletionStage<Charge> end(String method, String path, @Nullable Object body, int tries) {
            return sent(method, "/" + handle + path, body)
                    .<CompletionStage<Charge>>handle((response, e) -> {
                        boolean again =
                                e == null ? response.statusCode() == 503 : Linked.cause(e) instanceof IOException;
                        if (again && tries < TRIES) {
                            Executor later = CompletableFuture.delayedExecutor(PAUSE_MS, TimeUnit.MILLISECONDS);
                            return CompletableFuture.runAsync(() -> {}, later)
                                    .thenCompose(paused -> end(method, path, body, tries + 1));
                        }
                        return e == null
                                ? CompletableFuture.completedFuture(charged(response))
                                : CompletableFuture.<Charge>failedFuture(e);
                    })
                    .thenCompose(stage -> stage);
        }

        private Charge charged(HttpResponse<String> response) {
            if (response.statusCode() != 200) {
                throw refused(response);
            }
            return Charge.of(Json.MAPPER.treeToValue(read(response).path("charged"), Permit.Reserved.class));
        }

        private void renewAfter(long ms) {
            Executor later = CompletableFuture.delayedExecutor(ms, TimeUnit.MILLISECONDS);
            var unused = CompletableFuture.runAsync(() -> {}, later)
                    .thenCompose(due -> ended.isDone()
                            ? CompletableFuture.completedFuture(null)
                            : sent("POST", "/" + handle + "/renew", null))
                    .thenAccept(answer -> {
                        if (!ended.isDone()) {
                            renewAfter(ms);
                        }
                    });
        }
    }
}
