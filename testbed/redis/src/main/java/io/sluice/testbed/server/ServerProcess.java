package io.sluice.testbed.server;

import io.sluice.testbed.redis.Scratch;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The server, started from its jar. It is ready when this has it, leaves neither process nor file behind once closed, also
 * when this JVM is killed. Calls block.
 */
public final class ServerProcess implements AutoCloseable {
    private static final Duration START = Duration.ofMinutes(3);
    private static final Duration STOP = Duration.ofSeconds(40);
    private static final Duration POLL = Duration.ofMillis(20);
    private static final int LOG_LINES = 30;

    private final Path directory = Scratch.directory("server-");
    private final Process process;
    private final URI uri;

    private ServerProcess(ServerOptions options) throws IOException, InterruptedException {
        process = options.process()
                .directory(directory.toFile())
                .redirectInput(new File("/dev/null"))
                .redirectErrorStream(true)
                .redirectOutput(log().toFile())
                .start();
        Files.writeString(directory.resolve(Scratch.PID_FILE), String.valueOf(process.pid()));
        try {
            uri = awaitReady(System.nanoTime() + START.toNanos());
        } catch (InterruptedException | RuntimeException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    /**
     * Starts it and waits until it is ready: Redis answers and may be written to.
     *
     * @throws IllegalStateException it ended, or was not ready in three minutes; with its last words
     */
    public static ServerProcess start(ServerOptions options) {
        try {
            return new ServerProcess(options);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + options.jar(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the server started", e);
        }
    }

    /** Where it listens: {@code http://127.0.0.1:<port>}. */
    public URI uri() {
        return uri;
    }

    public long pid() {
        return process.pid();
    }

    /** The processor time it has taken so far: how much work its start was, however busy the machine. */
    public Duration cpu() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** Asks it to end as Kubernetes does (SIGTERM), and does not wait. */
    public void terminate() {
        process.destroy();
    }

    /** Waits for its end, 40 s at most, and tells its exit code. */
    public int awaitEnd() {
        try {
            if (!process.waitFor(STOP.toMillis(), TimeUnit.MILLISECONDS)) {
                throw failure("did not end in " + STOP.toSeconds() + " s");
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the server stopped", e);
        }
    }

    /** All that it has said. */
    public String said() {
        try {
            return Files.exists(log()) ? Files.readString(log(), StandardCharsets.UTF_8) : "";
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Ends it at once, in whatever it is doing, and removes its files. May be called more than once. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(STOP.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Scratch.delete(directory);
    }

    private URI awaitReady(long deadlineNs) throws InterruptedException {
        while (process.isAlive() && System.nanoTime() < deadlineNs) {
            Optional<URI> at = Readiness.listensAt(said());
            if (at.isPresent() && Readiness.isReady(at.get())) {
                return at.get();
            }
            TimeUnit.NANOSECONDS.sleep(POLL.toNanos());
        }
        throw failure(process.isAlive() ? "was not ready in " + START.toSeconds() + " s" : "ended at once");
    }

    private IllegalStateException failure(String what) {
        List<String> lines = said().lines().toList();
        String last = lines.stream().skip(Math.max(0, lines.size() - LOG_LINES)).collect(Collectors.joining("\n  "));
        return new IllegalStateException("the server " + what + "; it said last\n  " + last);
    }

    private Path log() {
        return directory.resolve("log");
    }
}
