package io.sluice.server.outside;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A program that runs, and what it says. */
final class Program implements AutoCloseable {
    private static final long SECONDS = 120;

    private final Process process;
    private final Path out;
    private final Path err;

    private Program(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    static Program start(Path directory, Map<String, String> environment, List<String> command) {
        try {
            Path out = Files.createTempFile("program", ".out");
            Path err = Files.createTempFile("program", ".err");
            ProcessBuilder builder = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            builder.environment().putAll(environment);
            return new Program(builder.start(), out, err);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its exit code. */
    int end() {
        try {
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("it runs after " + SECONDS + " s; " + this);
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    String out() {
        return text(out);
    }

    String err() {
        return text(err);
    }

    /** Skips the test, and says so, where a program is not installed. */
    static void needs(String program, String... question) {
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(List.of(question));
        boolean there;
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            there = process.waitFor(SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException none) {
            there = false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (!there) {
            skip(String.join(" ", command) + " does not succeed here");
        }
    }

    static void skip(String why) {
        System.err.println("skipped: " + why);
        abort(why);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            Files.deleteIfExists(out);
            Files.deleteIfExists(err);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return "it said: " + out() + err();
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
