package io.sluice;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What is logged meanwhile, which in tests goes to standard error. */
final class LogLines implements AutoCloseable {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream before = System.err;

    private LogLines() {
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    }

    static LogLines record() {
        return new LogLines();
    }

    List<String> lines() {
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Override
    public void close() {
        System.setErr(before);
    }
}
