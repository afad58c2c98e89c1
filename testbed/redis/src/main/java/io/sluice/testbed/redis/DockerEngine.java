package io.sluice.testbed.redis;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.URLEncoder;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Two questions to a Docker engine before Testcontainers is let loose, because its own way to find out that there is no
 * engine takes seconds, and that an image is missing and cannot be pulled, minutes.
 */
record DockerEngine(SocketAddress address) {
    private static final long TIMEOUT_MS = 2_000;

    /** The engine that answers: the one that {@code DOCKER_HOST} names, else one at the usual sockets. */
    static Optional<DockerEngine> find(Map<String, String> environment) {
        return candidates(environment).stream()
                .map(DockerEngine::new)
                .filter(engine -> isOk(engine.answer("/_ping")))
                .findFirst();
    }

    /** Whether the engine has the image already; a name without a tag stands for any. */
    boolean has(String image) {
        String filter = URLEncoder.encode("{\"reference\":[\"" + image + "\"]}", StandardCharsets.UTF_8);
        String answer = answer("/images/json?filters=" + filter);
        return isOk(answer) && !answer.strip().endsWith("\n[]");
    }

    private static List<SocketAddress> candidates(Map<String, String> environment) {
        String named = environment.get("DOCKER_HOST");
        if (named != null) {
            URI uri = URI.create(named);
            return switch (String.valueOf(uri.getScheme())) {
                case "unix" -> List.of(UnixDomainSocketAddress.of(uri.getPath()));
                case "tcp", "http" -> List.of(new InetSocketAddress(uri.getHost(), uri.getPort()));
                default -> List.of();
            };
        }
        List<Path> sockets = new ArrayList<>(List.of(Path.of("/var/run/docker.sock")));
        String runtime = environment.get("XDG_RUNTIME_DIR");
        if (runtime != null) {
            sockets.add(Path.of(runtime, "docker.sock"));
        }
        sockets.add(Path.of(System.getProperty("user.home"), ".docker", "run", "docker.sock"));
        return sockets.stream()
                .filter(Files::exists)
                .<SocketAddress>map(UnixDomainSocketAddress::of)
                .toList();
    }

    private static boolean isOk(String answer) {
        return answer.startsWith("HTTP/1.") && answer.startsWith(" 200 ", "HTTP/1.x".length());
    }

    private String answer(String path) {
        try {
            return CompletableFuture.supplyAsync(() -> ask(path)).get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return e.toString();
        } catch (ExecutionException | TimeoutException noAnswer) {
            return noAnswer.toString();
        }
    }

    private String ask(String path) {
        try (SocketChannel channel = address instanceof UnixDomainSocketAddress
                ? SocketChannel.open(StandardProtocolFamily.UNIX)
                : SocketChannel.open()) {
            channel.connect(address);
            String request = "GET " + path + " HTTP/1.0\r\nHost: docker\r\n\r\n";
            channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
            // Version 1.0, so the engine closes after its answer.
            return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
