package io.sluice.testbed.bench;

import io.sluice.testbed.redis.Scratch;
import io.sluice.testbed.server.ServerOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The server laid out as its image has it, by the steps of its Dockerfile: unpacked, with a class-data archive. */
final class ServerImage {
    private static final long STEP_SECONDS = 180;
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();

    /** Two, however many this machine has. */
    private static final String CORES = "-XX:ActiveProcessorCount=2";

    private final Path plain;
    private final Path unpacked;
    private final Path archive;

    private ServerImage(Path plain, Path unpacked, Path archive) {
        this.plain = plain;
        this.unpacked = unpacked;
        this.archive = archive;
    }

    /** @throws IllegalStateException the server was not built, or a step failed */
    static ServerImage lay(Path home) throws InterruptedException {
        Path plain = ServerOptions.builtIn(home);
        Path directory = Scratch.directory("image-");
        run(directory, "-Djarmode=tools", "-jar", plain.toString(), "extract", "--destination", "app");
        Path unpacked = directory.resolve("app").resolve(plain.getFileName());
        Path archive = directory.resolve("app").resolve("sluice-server.jsa");
        run(
                directory,
                CORES,
                "-XX:ArchiveClassesAtExit=" + archive,
                "-Dspring.context.exit=onRefresh",
                "-jar",
                unpacked.toString());
        return new ServerImage(plain, unpacked, archive);
    }

    ServerOptions plain(String redis) {
        return ServerOptions.of(plain, redis).withJvm(CORES);
    }

    /** As its image starts it. */
    ServerOptions laidOut(String redis) {
        return ServerOptions.of(unpacked, redis).withJvm(CORES, "-XX:SharedArchiveFile=" + archive);
    }

    /** The same with little memory. */
    ServerOptions small(String redis, String heap) {
        return ServerOptions.of(unpacked, redis).withJvm(CORES, "-XX:SharedArchiveFile=" + archive, "-Xmx" + heap);
    }

    private static void run(Path directory, String... arguments) throws InterruptedException {
        List<String> command = java.util.stream.Stream.concat(
                        java.util.stream.Stream.of(JAVA), java.util.stream.Stream.of(arguments))
                .toList();
        Path said = directory.resolve("step.log");
        try {
            Process process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(said.toFile())
                    .start();
            if (!process.waitFor(STEP_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                process.destroyForcibly();
                throw new IllegalStateException(String.join(" ", command) + " failed: " + Files.readString(said));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
