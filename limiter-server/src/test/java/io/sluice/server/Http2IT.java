package io.sluice.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.WithRedis;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;

/** Java's own client as it comes: it offers HTTP/2 with its first request, which may have a body. */
@WithRedis
class Http2IT {
    @Test
    void theFirstRequestOfAClientThatOffersHttp2MayHaveABody() throws Exception {
        Started server = Started.shared();
        String project = Policies.installed(server.http, "{rpm: 600}");
        HttpResponse<String> granted = post(
                server,
                "/v1/projects/" + project + "/permits",
                "{\"model\":\"claude-sonnet-5-5\",\"input_tokens\":1,\"agent\":\"%s\"}".formatted("a".repeat(100)));
        assertThat(granted.statusCode()).as(granted.body()).isEqualTo(201);
        assertThat(granted.version()).isEqualTo(HttpClient.Version.HTTP_2);

        HttpResponse<String> large =
                post(server, "/v1/projects/" + project + "/hold", "{\"reason\":\"%s\"}".formatted("x".repeat(200_000)));
        assertThat(large.statusCode())
                .as("too long a reason, not too large a body")
                .isEqualTo(400);
    }

    private static HttpResponse<String> post(Started server, String path, String json) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port + path))
                                .header("Content-Type", "application/json")
                                .POST(BodyPublishers.ofString(json))
                                .build(),
                        BodyHandlers.ofString());
    }
}
