package io.sluice.testbed.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The one directory of this JVM that holds the directories of all servers it started, and its reaper: a shell that waits for
 * the end of this JVM, however it ends, then kills every server that is left, undoes what else there is, and removes the
 * directory.
 *
 * <p>A shutdown hook would not run when the JVM is killed, and where it runs it would race the hooks of those who still
 * use the server. The reaper does neither: it reads from a pipe whose other end closes with the JVM.
 */
public final class Scratch {
    /** Holds the process id of a directory's server while it runs; further files may begin with this name. */
    public static final String PID_FILE = "pid";

    /** Holds shell commands that undo what a directory stands for, beyond processes and files. */
    static final String UNDO_FILE = "undo";

    private static final String REAPER = """
            trap '' INT TERM HUP
            read -r _
            for f in "$1"/*/%1$s*; do [ -f "$f" ] && kill -9 "$(cat "$f")"; done
            for f in "$1"/*/%2$s; do [ -f "$f" ] && sh "$f"; done
            rm -rf "$1"
            """.formatted(PID_FILE, UNDO_FILE);

    private static @Nullable Path base;

    private Scratch() {}

    /** A new, empty directory that goes with this JVM. */
    public static Path directory(String prefix) {
        try {
            return Files.createTempDirectory(base(), prefix);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make a directory for Redis", e);
        }
    }

    /** Removes a directory and all in it, if it is there. */
    public static void delete(Path directory) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> tree = Files.walk(directory)) {
            for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + directory, e);
        }
    }

    private static synchronized Path base() throws IOException {
        if (base == null) {
            Path made = Files.createTempDirectory("sluice-redis-");
            // The pipe to its standard input stays open, unwritten, until this JVM is gone.
            new ProcessBuilder(List.of("sh", "-c", REAPER, "sluice-redis-reaper", made.toString()))
                    .redirectOutput(Redirect.DISCARD)
                    .redirectError(Redirect.DISCARD)
                    .start();
            base = made;
        }
        return base;
    }
}
