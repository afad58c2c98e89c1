package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A command as a process of its own, in an environment that says nothing of Sluice or Spring but what is told here. Not by the
 * script, which might build. Ends with all it started.
 */
final class Launched implements AutoCloseable {
    private final Process process;
    private final Path out;
    private final Path err;

    private Launched(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** @param directory holds what it says */
    static Launched start(Path directory, Map<String, String> environment, String... words) throws IOException {
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        List<String> java = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Dsluice.home=" + Home.directory().toAbsolutePath().normalize(),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName());
        ProcessBuilder builder = new ProcessBuilder(
                        Stream.concat(java.stream(), Stream.of(words)).toList())
                .redirectInput(new File("/dev/null"))
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.matches("(SLUICE|SERVER|SPRING)_.*"));
        builder.environment().putAll(environment);
        return new Launched(builder.start(), out, err);
    }

    String out() {
        return read(out);
    }

    String err() {
        return read(err);
    }

    /** Waits until it has said this on standard error; fails, with all it said, once it has ended without. */
    Matcher awaitErr(String pattern, Duration atMost) {
        Pattern wanted = Pattern.compile(pattern);
        try {
            Awaitility.await()
                    .atMost(atMost)
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> wanted.matcher(err()).find() || !process.isAlive());
        } catch (ConditionTimeoutException e) {
            // Told below, with all that it said.
        }
        Matcher said = wanted.matcher(err());
        assertThat(said.find()).as("%s%n%s", err(), out()).isTrue();
        return said;
    }

    /** All processes that it started and that live. */
    List<ProcessHandle> children() {
        return process.descendants().toList();
    }

    /** SIGTERM. */
    void terminate() {
        process.destroy();
    }

    int awaitEnd(Duration atMost) throws InterruptedException {
        assertThat(process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS))
                .as("ended in %s%n%s%n%s", atMost, err(), out())
                .isTrue();
        return process.exitValue();
    }

    @Override
    public void close() {
        List<ProcessHandle> children = children();
        process.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
