package io.sluice.server.outside;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import io.sluice.testbed.server.ServerOptions;
import io.sluice.testbed.server.ServerProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How the image starts: the jar unpacked, with its class-data archive. Made and started as the Dockerfile says. */
@WithRedis
@Timeout(600)
class StartIT {
    private static final Path BUILT = ServerOptions.builtIn(Path.of(".."));
    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();

    @TempDir
    private Path directory;

    /** By the processor time that it took until it was ready: the same however busy the machine is. */
    @Test
    void theArchiveSavesWorkAtTheStart(RedisServer redis) {
        Path jar = unpack();
        Path archive = jar.resolveSibling("sluice-server.jsa");
        run(JAVA, "-XX:ArchiveClassesAtExit=" + archive, "-Dspring.context.exit=onRefresh", "-jar", jar.toString());
        assertThat(archive).isRegularFile();

        Duration plain = start(redis, BUILT, "-XX:+UseSerialGC");
        // Shared or not at all: an archive that does not fit the jar ends the start.
        Duration archived = start(redis, jar, "-XX:+UseSerialGC", "-XX:SharedArchiveFile=" + archive, "-Xshare:on");
        System.out.println("processor time until ready: plain jar " + plain.toMillis() + " ms, as in the image "
                + archived.toMillis() + " ms");
        assertThat(archived).isLessThan(plain.multipliedBy(8).dividedBy(10));
    }

    private static Duration start(RedisServer redis, Path jar, String... jvm) {
        long startNs = System.nanoTime();
        try (ServerProcess server =
                ServerProcess.start(ServerOptions.of(jar, redis.uri()).withJvm(jvm))) {
            System.out.println(jar.getFileName() + " ready after " + (System.nanoTime() - startNs) / 1_000_000 + " ms");
            return server.cpu();
        }
    }

    /** All of its layers in one directory, as the image has them. */
    private Path unpack() {
        run(JAVA, "-Djarmode=tools", "-jar", BUILT.toString(), "extract", "--destination", "app");
        Path jar = directory.resolve("app").resolve(BUILT.getFileName());
        assertThat(jar).isRegularFile();
        assertThat(Files.isDirectory(directory.resolve("app/lib"))).isTrue();
        return jar;
    }

    private void run(String... command) {
        Path where = Files.isDirectory(directory.resolve("app")) ? directory.resolve("app") : directory;
        try (Program program = Program.start(where, Map.of(), List.of(command))) {
            assertThat(program.end()).as(program::toString).isZero();
        }
    }
}
