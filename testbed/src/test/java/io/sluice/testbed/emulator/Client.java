package io.sluice.testbed.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;

/** An HTTP client as any agent has one. */
final class Client {
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();
    private final URI base;

    Client(Emulator emulator) {
        base = emulator.uri();
    }

    /** Runs {@code test} against a fresh emulator with these limits. */
    static void with(String limits, Consumer<Client> test) {
        try (Emulator emulator = Emulator.start(options(limits))) {
            test.accept(new Client(emulator));
        }
    }

    /** Runs {@code test} against a fresh emulator. */
    static void with(EmulatorOptions options, Consumer<Client> test) {
        try (Emulator emulator = Emulator.start(options)) {
            test.accept(new Client(emulator));
        }
    }

    static EmulatorOptions options(String limits) {
        return EmulatorOptions.of("anthropic", Limits.parse(limits));
    }

    static String header(HttpResponse<String> answer, String name) {
        return answer.headers().firstValue(name).orElse("(no " + name + ")");
    }

    HttpResponse<String> post(String path, String body, String... headers) {
        return send(request(path, headers).POST(BodyPublishers.ofString(body)).build());
    }

    HttpResponse<String> get(String path) {
        return send(request(path).GET().build());
    }

    /** A call with stated sizes; {@code headers} are names and values in turn. */
    HttpResponse<String> message(boolean stream, String... headers) {
        return post("/v1/messages", body(stream), headers);
    }

    CompletableFuture<HttpResponse<String>> messageAsync(boolean stream, String... headers) {
        return http.sendAsync(
                request("/v1/messages", headers)
                        .POST(BodyPublishers.ofString(body(stream)))
                        .build(),
                BodyHandlers.ofString());
    }

    JsonNode stats() {
        return Samples.JSON.readTree(get("/_stats").body());
    }

    List<JsonNode> log(long since) {
        return get("/_log?since=" + since)
                .body()
                .lines()
                .map(Samples.JSON::readTree)
                .toList();
    }

    static String body(boolean stream) {
        return "{\"model\":\"claude-example-1\",\"max_tokens\":4096,\"stream\":" + stream
                + ",\"messages\":[{\"role\":\"user\",\"content\":\"Say hi\"}]}";
    }

    /** Changes how the provider behaves; it must agree. */
    void behave(String json) {
        HttpResponse<String> answer = post("/_behave", json);
        assertThat(answer.body()).isEmpty();
        assertThat(answer.statusCode()).isEqualTo(204);
    }

    static JsonNode json(HttpResponse<String> answer) {
        return Samples.JSON.readTree(answer.body());
    }

    /** The JSON of each {@code data:} line; {@code [DONE]} is left out. */
    static List<JsonNode> data(HttpResponse<String> answer) {
        return answer.body()
                .lines()
                .filter(line -> line.startsWith("data: ") && !line.equals("data: [DONE]"))
                .map(line -> Samples.JSON.readTree(line.substring("data: ".length())))
                .toList();
    }

    private HttpRequest.Builder request(String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve(path)).timeout(Duration.ofSeconds(30));
        return headers.length == 0 ? request : request.headers(headers);
    }

    private HttpResponse<String> send(HttpRequest request) {
        try {
            return http.sendAsync(request, BodyHandlers.ofString()).join();
        } catch (RuntimeException e) {
            throw new AssertionError("no answer to " + request, e);
        }
    }
}
