package io.sluice.testbed.redis;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A {@code redis-server} (or sentinel) as a child process. That it is up is read from its log, which needs no password
 * or certificate and cannot mistake another server on the same port for this one.
 */
final class RedisProcess implements RedisServer {
    private static final Duration START = Duration.ofSeconds(10);
    private static final Duration STOP = Duration.ofSeconds(3);
    private static final int PORT_TRIES = 5;
    private static final int LOG_LINES = 20;

    // A server says the first, a sentinel the second once it watches its primary.
    private static final Pattern READY = Pattern.compile("Ready to accept connections|\\+monitor ");
    private static final Pattern VERSION = Pattern.compile("version=([0-9.]+)");
    private static final Pattern PORT_TAKEN = Pattern.compile("Address already in use|Failed listening on port");

    private final RedisBinary binary;
    private final Place place;
    private final List<String> arguments;
    private final Optional<String> password;
    private final int port;
    private final OptionalInt tlsPort;
    private final Path directory;
    private volatile Process process;
    private volatile String version = "unknown";

    private RedisProcess(
            RedisBinary binary, Place place, int port, Path directory, RedisOptions options, List<String> arguments)
            throws PortTaken {
        this.binary = binary;
        this.place = place;
        this.port = port;
        this.directory = directory;
        this.password = options.password();
        Certificates certificates = options.certificates();
        this.tlsPort = certificates == null ? OptionalInt.empty() : OptionalInt.of(Ports.free());
        List<String> all = new ArrayList<>(arguments);
        if (certificates != null) {
            all.addAll(Certificates.arguments(
                    tlsPort.getAsInt(), certificates.directory().toString()));
        }
        this.arguments = List.copyOf(all);
        this.process = launch();
    }

    static RedisProcess start(RedisBinary binary, RedisOptions options) {
        return start(binary, Place.HERE, options);
    }

    static RedisProcess start(RedisBinary binary, Place place, RedisOptions options) {
        return start(binary, place, "redis-", options, directory -> options.commandLine(place.debug()));
    }

    /** Makes the arguments of a server, and the files they name, once its directory is known. */
    interface Setup {
        List<String> arguments(Path directory) throws IOException;
    }

    static RedisProcess start(RedisBinary binary, Place place, String name, RedisOptions options, Setup setup) {
        for (int i = 1; ; i++) {
            int port = Ports.free();
            Path directory = Scratch.directory(name);
            try {
                return new RedisProcess(binary, place, port, directory, options, setup.arguments(directory));
            } catch (PortTaken e) {
                Scratch.delete(directory);
                if (i == PORT_TRIES) {
                    throw new IllegalStateException("no port was free in " + i + " tries", e);
                }
            } catch (IOException | RuntimeException e) {
                Scratch.delete(directory);
                throw e instanceof RuntimeException r ? r : new UncheckedIOException((IOException) e);
            }
        }
    }

    private Process launch() throws PortTaken {
        Process started = run(List.of());
        try {
            awaitReady(started);
            return started;
        } catch (RuntimeException e) {
            // Also when interrupted, as by a test's time limit.
            started.destroyForcibly();
            throw e;
        }
    }

    private Process run(List<String> more) {
        List<String> command = new ArrayList<>(List.of(binary.file().toString()));
        command.addAll(arguments); // first, because a configuration file must be
        command.addAll(List.of("--port", String.valueOf(port), "--dir", directory.toString()));
        command.addAll(place.listening());
        command.addAll(more);
        try {
            Process started = new ProcessBuilder(place.command(command))
                    .directory(directory.toFile())
                    .redirectInput(new File("/dev/null"))
                    .redirectErrorStream(true)
                    .redirectOutput(log().toFile())
                    .start();
            Files.writeString(directory.resolve(Scratch.PID_FILE), String.valueOf(started.pid()));
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run " + binary.file(), e);
        }
    }

    private void awaitReady(Process started) throws PortTaken {
        Await.until(START, () -> !started.isAlive() || READY.matcher(readLog()).find(), () -> {
            end(started);
            return failure("did not start").getMessage();
        });
        String log = readLog();
        if (!READY.matcher(log).find() || !started.isAlive()) {
            end(started);
            if (PORT_TAKEN.matcher(log).find()) {
                throw new PortTaken("port " + port + " is taken");
            }
            throw failure("ended at once");
        }
        Matcher found = VERSION.matcher(log);
        version = found.find() ? found.group(1) : version;
    }

    @Override
    public String address() {
        return place.address();
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public OptionalInt tlsPort() {
        return tlsPort;
    }

    @Override
    public Optional<String> password() {
        return password;
    }

    @Override
    public OptionalLong pid() {
        return OptionalLong.of(process.pid());
    }

    @Override
    public Backend backend() {
        return binary.backend();
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public boolean running() {
        return process.isAlive();
    }

    /** Where its configuration, log and data are. */
    Path directory() {
        return directory;
    }

    @Override
    public void pause() {
        signal("STOP");
    }

    @Override
    public void resume() {
        if (running()) {
            signal("CONT");
        }
    }

    @Override
    public synchronized void kill() {
        end(process);
    }

    @Override
    public synchronized void restart() {
        resume();
        process.destroy();
        if (!waitFor(process, STOP)) {
            end(process);
        }
        relaunch();
    }

    @Override
    public synchronized void restartEmpty() {
        end(process);
        Scratch.delete(directory.resolve("appendonlydir"));
        Scratch.delete(directory.resolve("dump.rdb"));
        relaunch();
    }

    /** Starts it again without waiting until it has read its data back, which takes it this long for each key. */
    synchronized void restartSlowly(Duration eachKey) {
        end(process);
        long delayUs = Math.max(1, eachKey.toNanos() / 1_000);
        process = run(List.of("--key-load-delay", String.valueOf(delayUs)));
    }

    private void relaunch() {
        try {
            process = launch();
        } catch (PortTaken e) {
            throw failure("could not restart: " + e.getMessage());
        }
    }

    @Override
    public synchronized void close() {
        // An orderly stop would wait for replicas and write files that are deleted the next moment.
        end(process);
        Scratch.delete(directory);
    }

    private void end(Process ending) {
        ending.destroyForcibly();
        if (!waitFor(ending, STOP)) {
            throw failure("survived SIGKILL for " + STOP.toSeconds() + " s");
        }
        try {
            // From here on the number may be given to another process, which the reaper must not kill.
            Files.deleteIfExists(directory.resolve(Scratch.PID_FILE));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void signal(String name) {
        try {
            // The shell's own kill: the program of that name is not everywhere.
            Process kill = new ProcessBuilder("sh", "-c", "kill -" + name + " " + process.pid()).start();
            if (!waitFor(kill, STOP) || kill.exitValue() != 0) {
                throw failure("could not be sent SIG" + name);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path log() {
        return directory.resolve("log");
    }

    private String readLog() {
        try {
            return Files.exists(log()) ? Files.readString(log(), StandardCharsets.ISO_8859_1) : "";
        } catch (IOException e) {
            return e.toString();
        }
    }

    private IllegalStateException failure(String what) {
        List<String> lines = readLog().lines().toList();
        String last = String.join("\n  ", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
        return new IllegalStateException("Redis from " + backend().description() + " on port " + port + " " + what
                + "; its log ends with\n  " + last);
    }

    private static boolean waitFor(Process process, Duration atMost) {
        try {
            return process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for Redis", e);
        }
    }

    /** Another was faster: the caller tries the next port. */
    private static final class PortTaken extends Exception {
        PortTaken(String message) {
            super(message);
        }
    }
}
