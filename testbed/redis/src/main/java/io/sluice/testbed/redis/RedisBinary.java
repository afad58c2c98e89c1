package io.sluice.testbed.redis;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.embedded.RedisExecProvider;

/** A {@code redis-server} that can be run here. */
record RedisBinary(Path file, Backend backend) {
    private static final String NAME = "redis-server";
    private static @Nullable Path unpacked;

    static Optional<RedisBinary> onPath(@Nullable String path) {
        return Pattern.compile(Pattern.quote(File.pathSeparator))
                .splitAsStream(path == null ? "" : path)
                .filter(directory -> !directory.isEmpty())
                .map(directory -> Path.of(directory, NAME))
                .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
                .findFirst()
                .map(file -> new RedisBinary(file.toAbsolutePath(), Backend.PATH));
    }

    /** The binary in the jar, unpacked once a JVM; empty where there is none for this system. */
    static synchronized Optional<RedisBinary> embedded() {
        if (unpacked == null) {
            try {
                unpacked = unpack();
            } catch (IllegalArgumentException noneForThisSystem) {
                return Optional.empty();
            } catch (IOException e) {
                throw new UncheckedIOException("cannot unpack the embedded " + NAME, e);
            }
        }
        return Optional.of(new RedisBinary(unpacked, Backend.EMBEDDED));
    }

    private static Path unpack() throws IOException {
        Path file = RedisExecProvider.defaultProvider().get().toPath();
        // The library leaves it in a directory of its own, which would outlive a killed JVM.
        Path ours = Files.move(file, Scratch.directory("binary-").resolve(NAME));
        Files.deleteIfExists(file.resolveSibling(""));
        return ours;
    }
}
