package io.sluice;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What is logged while this is open; it goes where it went before as well. */
final class Logged implements AutoCloseable {
    private final PrintStream before = System.err;
    private final ByteArrayOutputStream heard = new ByteArrayOutputStream();

    Logged() {
        OutputStream both = new OutputStream() {
            @Override
            public void write(int b) {
                before.write(b);
                synchronized (heard) {
                    heard.write(b);
                }
            }
        };
        System.setErr(new PrintStream(both, true, StandardCharsets.UTF_8));
    }

    /** The lines that have all of these in them. */
    List<String> lines(String... parts) {
        String all;
        synchronized (heard) {
            all = heard.toString(StandardCharsets.UTF_8);
        }
        return all.lines()
                .filter(line -> List.of(parts).stream().allMatch(line::contains))
                .toList();
    }

    @Override
    public void close() {
        System.setErr(before);
    }
}
