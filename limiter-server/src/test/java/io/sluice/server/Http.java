package io.sluice.server;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A caller over real HTTP, as an agent in any language is one. */
final class Http {
    static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();
    private final int port;
    private final Map<String, String> always;

    Http(int port, Map<String, String> always) {
        this.port = port;
        this.always = always;
    }

    Http(int port) {
        this(port, Map.of());
    }

    Http with(String token) {
        return new Http(port, Map.of("Authorization", "Bearer " + token));
    }

    /** What came back. */
    record Reply(int status, Map<String, List<String>> headers, String body) {
        JsonNode json() {
            return JSON.readTree(body);
        }

        String header(String name) {
            return headers.getOrDefault(name, List.of("")).get(0);
        }

        String kind() {
            JsonNode json = json();
            String kind = json.path("kind").asString("");
            if (!json.path("type").asString("").endsWith(":" + kind)
                    || !header("content-type").equals("application/problem+json")
                    || json.path("status").asInt() != status) {
                throw new AssertionError("no problem+json whose type ends in the kind: " + status + " " + body);
            }
            return kind;
        }
    }

    Reply get(String path, String... headers) {
        return send(request("GET", path, null, headers));
    }

    Reply delete(String path, String... headers) {
        return send(request("DELETE", path, null, headers));
    }

    Reply post(String path, String json, String... headers) {
        return send(request("POST", path, json, headers));
    }

    Reply put(String path, String body, String... headers) {
        return send(request("PUT", path, body, headers));
    }

    Reply send(String method, String path, String body, String... headers) {
        return send(request(method, path, body, headers));
    }

    CompletableFuture<Reply> later(String path, String json) {
        return client.sendAsync(request("POST", path, json), BodyHandlers.ofString())
                .thenApply(Http::reply);
    }

    /** A stream of events that is read as it comes, until closed. */
    Events events(String method, String path, String body, String... headers) {
        Events events = new Events();
        events.response =
                client.sendAsync(request(method, path, body, headers), BodyHandlers.fromLineSubscriber(events));
        return events;
    }

    private HttpRequest request(String method, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(PATIENCE)
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (body != null) {
            request.setHeader("Content-Type", "application/json");
        }
        always.forEach(request::setHeader);
        for (int i = 0; i < headers.length; i += 2) {
            request.setHeader(headers[i], headers[i + 1]);
        }
        return request.build();
    }

    private Reply send(HttpRequest request) {
        try {
            return reply(client.send(request, BodyHandlers.ofString()));
        } catch (IOException e) {
            throw new AssertionError(request + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    private static Reply reply(HttpResponse<String> response) {
        return new Reply(response.statusCode(), response.headers().map(), response.body());
    }

    /** Events as lines. */
    static final class Events implements Flow.Subscriber<String>, AutoCloseable {
        final List<String> lines = new CopyOnWriteArrayList<>();
        CompletableFuture<?> response;
        volatile boolean ended;
        private volatile Flow.Subscription subscription;

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            this.subscription = subscription;
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(String line) {
            lines.add(line);
        }

        @Override
        public void onError(Throwable e) {
            ended = true;
        }

        @Override
        public void onComplete() {
            ended = true;
        }

        /** The data of the events of this name so far. */
        List<JsonNode> named(String event) {
            List<JsonNode> found = new CopyOnWriteArrayList<>();
            for (int i = 0; i + 1 < lines.size(); i++) {
                if (lines.get(i).equals("event:" + event) && lines.get(i + 1).startsWith("data:")) {
                    found.add(JSON.readTree(lines.get(i + 1).substring(5)));
                }
            }
            return found;
        }

        /** Hangs up, as a client does that is gone. */
        @Override
        public void close() {
            response.cancel(true);
            if (subscription != null) {
                subscription.cancel();
            }
        }
    }
}
