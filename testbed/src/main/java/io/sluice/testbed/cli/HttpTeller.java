package io.sluice.testbed.cli;

import io.sluice.Policy;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
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
    private static final String ELSEWHERE = "; --server URL names another server, --redis URI asks Redis itself";

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
        return get(projectPath(project) + "/status");
    }

    @Override
    public JsonNode plan(String project, Map<String, String> parameters) throws IOException, InterruptedException {
        String query = parameters.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + word(entry.getValue()))
                .collect(Collectors.joining("&"));
        return get(projectPath(project) + "/plan" + (query.isEmpty() ? "" : "?" + query));
    }

    @Override
    public JsonNode policy(String project) throws IOException, InterruptedException {
        HttpResponse<String> answer = ask("GET", projectPath(project), null);
        return JsonMapper.shared()
                .createObjectNode()
                .put("project", project)
                .put("version", version(answer))
                .set("policy", json(answer));
    }

    /** As the server tags what it shows. */
    private long version(HttpResponse<String> answer) throws IOException {
        String tag = answer.headers().firstValue("ETag").orElse("");
        if (!tag.matches("\"[0-9]{1,15}\"")) {
            throw notOurs(null);
        }
        return Long.parseLong(tag.substring(1, tag.length() - 1));
    }

    @Override
    public long apply(Policy policy) throws IOException, InterruptedException {
        return json(ask("PUT", projectPath(policy.project()), policy.toJson()))
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
        JsonNode left = json(ask("POST", projectPath(project) + "/hold", order.toString()))
                .path("for_ms");
        return left.isNumber() ? Optional.of(Duration.ofMillis(left.asLong())) : Optional.empty();
    }

    @Override
    public boolean release(String project, @Nullable String scope) throws IOException, InterruptedException {
        String query = scope == null ? "" : "?scope=" + word(scope);
        return json(ask("DELETE", projectPath(project) + "/hold" + query, null))
                .path("released")
                .asBoolean();
    }

    /** What no project can be called is not asked for. */
    private static String projectPath(String project) {
        if (!project.matches("[a-z0-9][a-z0-9._-]{0,62}")) {
            throw new IllegalArgumentException("no project can be called '" + Shown.text(project) + "'");
        }
        return "v1/projects/" + project;
    }

    private JsonNode get(String path) throws IOException, InterruptedException {
        return json(ask("GET", path, null));
    }

    private HttpResponse<String> ask(String method, String path, @Nullable String body)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(server.resolve(path))
                .timeout(PATIENCE)
                .header("Accept", "application/json")
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        HttpResponse<String> response;
        try {
            response = http.send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        } catch (ConnectException e) {
            throw new IOException("nobody answers at " + server + ELSEWHERE, e);
        } catch (HttpTimeoutException e) {
            throw new IOException(server + " has not answered for " + PATIENCE.toSeconds() + " s" + ELSEWHERE, e);
        }
        if (response.statusCode() != 200) {
            throw HttpNo.of(server, response.statusCode(), response.body());
        }
        return response;
    }

    private JsonNode json(HttpResponse<String> response) throws IOException {
        try {
            return JsonMapper.shared().readTree(response.body());
        } catch (JacksonException e) {
            throw notOurs(e);
        }
    }

    private IOException notOurs(@Nullable Exception why) {
        return new IOException("what answers at " + server + " is no Sluice server", why);
    }

    private static String word(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    @Override
    public void close() {
        // The JDK 17 client has nothing to close; its threads are daemons.
    }
}
