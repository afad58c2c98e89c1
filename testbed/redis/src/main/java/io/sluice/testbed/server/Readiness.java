package io.sluice.testbed.server;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How a server on this machine tells where it listens, and whether it is ready. */
public final class Readiness {
    /** Also in a log of JSON objects. */
    private static final Pattern LISTENS = Pattern.compile("started on port (\\d+)(?: \\((https?)\\))?");

    private static final HttpClient HTTP = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();

    private Readiness() {}

    /** {@code http://127.0.0.1:PORT}, once its log, or a line of it, has the port. */
    public static Optional<URI> listensAt(String log) {
        Matcher port = LISTENS.matcher(log);
        return port.find()
                ? Optional.of(
                        URI.create((port.group(2) == null ? "http" : port.group(2)) + "://127.0.0.1:" + port.group(1)))
                : Optional.empty();
    }

    /** Whether it says so: Redis answers it and may be written to. Blocks for 10 s at most. */
    public static boolean isReady(URI server) throws InterruptedException {
        HttpRequest question = HttpRequest.newBuilder(server.resolve("/actuator/health/readiness"))
                .timeout(Duration.ofSeconds(10))
                .build();
        try {
            return HTTP.send(question, BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException notYet) {
            return false;
        }
    }
}
