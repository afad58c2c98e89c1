package io.sluice.testbed.fleet;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** One process of the fleet, seen from the one that started it. */
final class Child implements AutoCloseable {
    private static final Duration LAST_WORDS = Duration.ofSeconds(2);

    private final String name;
    private final Process process;
    private final Writer stdin;
    private final Thread reader;
    private final CountDownLatch ready = new CountDownLatch(1);
    private volatile boolean bye;
    private volatile @Nullable String failure;

    private Child(String name, Process process, Consumer<FleetEvent> told) {
        this.name = name;
        this.process = process;
        this.stdin = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        this.reader = new Thread(() -> listen(told), "fleet-" + name);
        reader.setDaemon(true);
        reader.start();
    }

    static Child start(AgentConfig config, Consumer<FleetEvent> told) throws IOException {
        Process process = new ProcessBuilder(command())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        Child child = new Child("p" + config.process(), process, told);
        child.say(Json.MAPPER.writeValueAsString(config));
        return child;
    }

    /** A JVM like this one: same binary, same class path, a small heap. */
    static List<String> command() {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:MaxMetaspaceSize=96m"));
        if (Runtime.version().feature() >= 24) {
            // Netty loads native code and uses Unsafe; from 24 on the JVM warns about both.
            command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), AgentProcess.class.getName()));
        return command;
    }

    /** Waits until it can start. */
    void awaitReady(long deadlineNs) throws IOException, InterruptedException {
        boolean inTime = ready.await(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
        check();
        if (!inTime) {
            throw new IOException("process " + name + " was not ready in time");
        }
    }

    /** Throws if it failed or ended before it was told to. */
    void check() throws IOException {
        if (failure != null) {
            throw new IOException("process " + name + ": " + failure);
        }
        if (!process.isAlive() && !bye) {
            throw new IOException("process " + name + " ended with exit code " + process.exitValue());
        }
    }

    void go() throws IOException {
        say("go");
    }

    void stop() throws IOException {
        say("stop");
    }

    /** Waits for its last event; kills it if that does not come in time. */
    void awaitEnd(long deadlineNs) throws InterruptedException {
        if (!process.waitFor(Math.max(1, deadlineNs - System.nanoTime()), TimeUnit.NANOSECONDS)) {
            process.destroyForcibly();
        }
        reader.join(LAST_WORDS.toMillis());
    }

    /** Its own words for why it cannot go on, or how it ended without being told to; {@code null} while it is well. */
    @Nullable
    String trouble() {
        try {
            check();
            return null;
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    /** Stops it in its tracks (SIGSTOP): what it holds it goes on holding. */
    void pause() throws IOException, InterruptedException {
        signal("STOP");
    }

    /** Lets it go on. */
    void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    /** The shell's own kill: the program of that name is not everywhere. */
    private void signal(String what) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("sh", "-c", "kill -" + what + " " + process.pid()).start();
        if (kill.waitFor() != 0) {
            throw new IOException("process " + name + " could not be sent SIG" + what);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private void say(String line) throws IOException {
        try {
            stdin.write(line + "\n");
            stdin.flush();
        } catch (IOException e) {
            check();
            throw new IOException("process " + name + " does not listen", e);
        }
    }

    private void listen(Consumer<FleetEvent> told) {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                hear(Json.MAPPER.readValue(line, FleetEvent.class), told);
            }
        } catch (IOException | JacksonException e) {
            failure = "its events cannot be read: " + e.getMessage();
        } finally {
            ready.countDown();
        }
    }

    private void hear(FleetEvent event, Consumer<FleetEvent> told) {
        if (event instanceof FleetEvent.Call || event instanceof FleetEvent.Task || event instanceof FleetEvent.Alone) {
            told.accept(event);
        } else if (event instanceof FleetEvent.Ready) {
            ready.countDown();
        } else if (event instanceof FleetEvent.Failed failed) {
            failure = failed.message();
        } else {
            bye = true;
        }
    }
}
