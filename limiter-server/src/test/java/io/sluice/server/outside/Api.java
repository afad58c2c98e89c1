package io.sluice.server.outside;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The HTTP API of one project at one server. */
final class Api {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final HttpClient http;
    private final URI project;

    Api(HttpClient http, URI server, String project) {
        this.http = http;
        this.project = server.resolve("/v1/projects/" + project + "/");
    }

    static HttpClient client() {
        return HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(10))
                .build();
    }

    /** @param body JSON; an empty one is sent as none */
    record Answered(int status, JsonNode body) {
        private static Answered of(HttpResponse<String> response) {
            String text = response.body();
            return new Answered(response.statusCode(), JsonMapper.shared().readTree(text.isEmpty() ? "null" : text));
        }
    }

    Answered post(String path, String json) {
        return now(request(path).POST(BodyPublishers.ofString(json)).build());
    }

    Answered get(String path) {
        return now(request(path).build());
    }

    CompletableFuture<Answered> posting(String path, String json) {
        return http.sendAsync(request(path).POST(BodyPublishers.ofString(json)).build(), BodyHandlers.ofString())
                .thenApply(Answered::of);
    }

    /** A limit of a status, by its name. */
    static JsonNode limit(JsonNode status, String name) {
        return status.path("limits")
                .valueStream()
                .filter(limit -> limit.path("limit").asString("").equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no limit " + name + " in " + status));
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(project.resolve(path))
                .timeout(PATIENCE)
                .header("Content-Type", "application/json");
    }

    private Answered now(HttpRequest request) {
        try {
            return Answered.of(http.send(request, BodyHandlers.ofString()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
