package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.server.Http.Reply;
import io.sluice.testbed.redis.WithRedis;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What is sent as nearly everybody does goes a shorter way through the server: it must be answered as by the long one. */
@Tag("contract")
@WithRedis
class PlainCallsIT {
    private static final String MODEL = "\"model\":\"claude-sonnet-5-5\"";

    /** JSON too, but not spelt in the plain way. */
    private static final String[] OTHERWISE = {"Content-Type", "application/vnd.agent+json"};

    private final Http http = Started.shared().http;
    private final String project = Policies.installed(http, "{rpm: 100000, itpm: 1000000}");
    private final String permits = "/v1/projects/" + project + "/permits";

    static List<String> questions() {
        return List.of(
                "{" + MODEL + ",\"input_tokens\":10,\"id\":\"same\",\"agent\":\"a\"}",
                "{" + MODEL + ",\"input_tokens\":10}",
                "",
                "null",
                "[]",
                "{\"model\"",
                "{" + MODEL + ",\"input_tokens\":10,\"tokens\":1}",
                "{" + MODEL + ",\"input_tokens\":1.5}",
                "{" + MODEL + "}",
                "{" + MODEL + ",\"input_tokens\":2000000}",
                "{\"model\":\"nobody-knows-it\",\"input_tokens\":1}",
                "{" + MODEL + ",\"input_tokens\":10,\"lease_ms\":1}",
                "{" + MODEL + ",\"input_tokens\":10,\"run\":\"" + "x".repeat(2_000_000) + "\"}");
    }

    @ParameterizedTest
    @MethodSource("questions")
    void aQuestionIsAnsweredTheSameEitherWay(String body) {
        same(http.post(permits, body), http.post(permits, body, OTHERWISE));
    }

    @ParameterizedTest
    @MethodSource("questions")
    void andWhenItIsSentAsCurlSendsIt(String body) {
        same(http.post(permits, body), http.post(permits, body, "Content-Type", "application/x-www-form-urlencoded"));
    }

    @Test
    void soIsAnEnding() {
        for (String body : List.of("{}", "", "{\"usage\":{\"input_tokens\":5}}", "{\"usage\":{\"tokens\":5}}", "7")) {
            same(settled(body), settled(body, OTHERWISE));
        }
        same(http.post(permits + "/none/settle", "{}"), http.post(permits + "/none/settle", "{}", OTHERWISE));
    }

    @Test
    void andWhereThereIsNoSuchProject() {
        String none = "/v1/projects/not-installed/permits";
        same(http.post(none, questions().get(1)), http.post(none, questions().get(1), OTHERWISE));
    }

    /** What a token does not cover, it does not cover either way. */
    @Test
    void andWhoMayNotAskIsToldSo(@TempDir Path directory) throws IOException {
        try (Secured secured = new Secured(directory)) {
            String theirs = "/v1/projects/theirs/permits";
            String ours = "{" + MODEL + ",\"input_tokens\":10,\"agent\":\"%s\",\"team\":\"%s\"}";
            for (String body : List.of(
                    ours.formatted("r/1", "research"),
                    ours.formatted("x", "research"),
                    ours.formatted("r/1", "other"))) {
                same(secured.bound.post(permits, body), secured.bound.post(permits, body, OTHERWISE));
                same(secured.bound.post(theirs, body), secured.bound.post(theirs, body, OTHERWISE));
                same(secured.server.http.post(permits, body), secured.server.http.post(permits, body, OTHERWISE));
            }
            assertThat(secured.bound
                            .post(permits, ours.formatted("r/1", "research"))
                            .status())
                    .isEqualTo(201);
            assertThat(secured.bound
                            .post(permits, ours.formatted("x", "research"))
                            .status())
                    .isEqualTo(403);
            assertThat(secured.bound
                            .post(theirs, ours.formatted("r/1", "research"))
                            .status())
                    .isEqualTo(403);
        }
    }

    /** {@code Accept} may be told in several lines, and each of them counts. */
    @ParameterizedTest
    @ValueSource(strings = {"application/json", "application/vnd.agent+json"})
    void whoAcceptsAStreamGetsOne(String type) throws Exception {
        URI address = URI.create("http://127.0.0.1:" + Started.shared().port + permits);
        HttpRequest asked = HttpRequest.newBuilder(address)
                .header("Accept", "*/*;q=0.1")
                .header("Accept", "text/event-stream")
                .header("Content-Type", type)
                .POST(BodyPublishers.ofString(questions().get(1)))
                .build();
        HttpResponse<String> told = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .build()
                .send(asked, BodyHandlers.ofString());
        assertThat(told.headers().firstValue("Content-Type").orElse("")).startsWith("text/event-stream");
        assertThat(told.body()).contains("event:granted");
    }

    @Test
    void bothAreTimedByTheirPattern() {
        http.post(permits, questions().get(1));
        assertThat(http.get("/actuator/prometheus").body().lines())
                .anyMatch(line -> line.startsWith("http_server_requests_seconds_count")
                        && line.contains("status=\"201\"")
                        && line.contains("uri=\"/v1/projects/{project}/permits\""));
    }

    private Reply settled(String body, String... headers) {
        String permit =
                http.post(permits, questions().get(1)).json().get("permit").asString();
        return http.post(permits + "/" + permit + "/settle", body, headers);
    }

    /** But for the name of a permit and whose question came first. */
    private static void same(Reply plain, Reply otherwise) {
        assertThat(plain.header("content-type")).isEqualTo(otherwise.header("content-type"));
        assertThat(plain.status() == 201 ? 200 : plain.status())
                .as(plain.body())
                .isEqualTo(otherwise.status() == 201 ? 200 : otherwise.status());
        JsonNode one = plain.json();
        JsonNode two = otherwise.json();
        assertThat(one.propertyNames()).containsExactlyElementsOf(two.propertyNames());
        for (String name : one.propertyNames()) {
            if (!List.of("permit", "id", "waited_ms", "instance").contains(name)) {
                assertThat(one.get(name)).as(name).isEqualTo(two.get(name));
            }
        }
    }
}
