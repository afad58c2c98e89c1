package io.sluice.testbed.cli;

import io.sluice.Policy;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A server, asked over its API. */
final class HttpTeller implements Teller {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final HttpClient http =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    private final URI server;
    private final @Nullable String token;

    /**
     * @param server with a slash at its end
     * @param token {@code null} where the server asks for none
     */
    HttpTeller(URI server, @Nullable String token) {
        this.server = server;
        this.token = token;
    }

    @Override
    public List<String> projects() throws IOException, InterruptedException {
        return get("v1/projects").path("projects").values().stream()
                .map(project -> project.path("project").asString())
                .toList();
    }

    @Override
    public JsonNode status(String project) throws IOException, InterruptedException {
        return get("v1/projects/" + word(project) + "/status");
    }

    @Override
    public JsonNode plan(String project, Map<String, String> parameters) throws IOException, InterruptedException {
        String query = parameters.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + word(entry.getValue()))
                .collect(Collectors.joining("&"));
        return get("v1/projects/" + word(project) + "/plan" + (query.isEmpty() ? "" : "?" + query));
    }

    @Override
    public InForce policy(String project) throws IOException, InterruptedException {
        HttpResponse<String> response = ask("GET", "v1/projects/" + word(project), null);
        String tag = response.headers().firstValue("ETag").orElse("").replaceAll("\\D", "");
        return new InForce(tag.isEmpty() ? 0 : Long.parseLong(tag), read(response));
    }

    @Override
    public long install(Policy policy) throws IOException, InterruptedException {
        return read(ask("PUT", "v1/projects/" + word(policy.project()), policy.toJson()))
                .path("version")
                .asLong();
    }

    @Override
    public Optional<Duration> hold(String project, String scope, @Nullable Duration length, String reason)
            throws IOException, InterruptedException {
        ObjectNode order =
                JsonMapper.shared().createObjectNode().put("scope", scope).put("reason", reason);
        if (length != null) {
            order.put("for_ms", length.toMillis());
        }
        JsonNode left = read(ask("POST", "v1/projects/" + word(project) + "/hold", order.toString()))
                .path("for_ms");
        return left.isNumber() ? Optional.of(Duration.ofMillis(left.asLong())) : Optional.empty();
    }

    @Override
    public boolean release(String project, @Nullable String scope) throws IOException, InterruptedException {
        String query = scope == null ? "" : "?scope=" + word(scope);
        return read(ask("DELETE", "v1/projects/" + word(project) + "/hold" + query, null))
                .path("released")
                .asBoolean();
    }

    private JsonNode get(String path) throws IOException, InterruptedException {
        return read(ask("GET", path, null));
    }

    private HttpResponse<String> ask(String method, String path, @Nullable String json)
            throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(server.resolve(path)).timeout(PATIENCE).header("Accept", "application/json");
        if (json != null) {
            request.header("Content-Type", "application/json");
        }
        request.method(
                method,
                json == null
                        ? HttpRequest.BodyPublishers.noBody()
                        : HttpRequest.BodyPublishers.ofString(json, StandardCharsets.UTF_8));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        HttpResponse<String> response;
        try {
            response = http.send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        } catch (ConnectException e) {
            throw new IOException("nobody answers at " + server, e);
        }
        if (response.statusCode() == 400) {
            throw new IllegalArgumentException(refusal(response));
        }
        if (response.statusCode() != 200) {
            throw new IOException(refusal(response));
        }
        return response;
    }

    private JsonNode read(HttpResponse<String> response) throws IOException {
        try {
            return JsonMapper.shared().readTree(response.body());
        } catch (JacksonException e) {
            throw new IOException("what answers at " + server + " is no Sluice server", e);
        }
    }

    /** In the server's words where it has some. */
    private String refusal(HttpResponse<String> response) {
        try {
            String detail =
                    JsonMapper.shared().readTree(response.body()).path("detail").asString("");
            if (!detail.isEmpty()) {
                return detail;
            }
        } catch (JacksonException e) {
            // Not ours: a proxy's page, or nothing.
        }
        return server + " answered " + response.statusCode();
    }

    private static String word(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    @Override
    public void close() {
        // The JDK 17 client has nothing to close; its threads are daemons.
    }
}
