package io.sluice.server;

import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The server as a process of its own, with a heap of its own, that can be told to stop. */
final class Forked implements AutoCloseable {
    final Process process;
    final Http http;
    final int port;
    private final Path log;

    private Forked(Process process, int port, Path log) {
        this.process = process;
        this.port = port;
        this.http = new Http(port);
        this.log = log;
    }

    static Forked on(String redis, String heap) throws IOException {
        int port = freePort();
        Path log = Files.createTempFile("server", ".log");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heap,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "io.sluice.server.Server",
                "--server.port=" + port,
                "--sluice.redis=" + redis,
                "--sluice.redis-timeout=5s"));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        Forked forked = new Forked(process, port, log);
        try {
            await().atMost(120, TimeUnit.SECONDS)
                    .ignoreExceptionsMatching(e -> true)
                    .until(forked::isReady);
        } catch (RuntimeException e) {
            String said = Files.readString(log);
            forked.close();
            throw new AssertionError(said, e);
        }
        return forked;
    }

    private boolean isReady() {
        if (!process.isAlive()) {
            throw new IllegalStateException("it ended");
        }
        try {
            return http.get("/actuator/health/readiness").status() == 200;
        } catch (AssertionError e) {
            return false; // not listening yet
        }
    }

    /** How many threads it has. */
    long threads() {
        File[] tasks = new File("/proc/" + process.pid() + "/task").listFiles();
        return tasks == null ? -1 : tasks.length;
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        Files.deleteIfExists(log);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
