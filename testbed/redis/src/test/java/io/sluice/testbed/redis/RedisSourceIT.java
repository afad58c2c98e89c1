package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which Redis is chosen, by what there is and what is asked for. */
@Timeout(30)
class RedisSourceIT {
    private static final String IMAGE = "sluice-test/no-such-image:1";

    @Test
    void aServerThatRunsAlreadyIsUsedAndNeverStopped() {
        try (RedisServer somebodys = RedisServers.start()) {
            RedisServer found = new RedisSource(somebodys.uri(), null, null, null, IMAGE)
                    .open()
                    .server();

            assertThat(found.backend()).isEqualTo(Backend.EXISTING);
            assertThat(found.uri()).isEqualTo(somebodys.uri());
            assertThat(found.port()).isEqualTo(somebodys.port());
            assertThat(found.version()).isEqualTo(somebodys.version());
            assertThatThrownBy(found::kill).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(found::pause).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(found::restart).isInstanceOf(UnsupportedOperationException.class);
            found.close();
            assertThat(somebodys.command("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void itIsNotTakenForAServerOfOnesOwn() {
        RedisSource source = new RedisSource("redis://127.0.0.1:1", null, null, null, IMAGE);
        try (RedisServer own = source.start(RedisOptions.DEFAULT).server()) {
            assertThat(own.backend()).isNotEqualTo(Backend.EXISTING);
        }
    }

    @Test
    void itMustAnswer() {
        RedisSource source = new RedisSource("redis://127.0.0.1:1", null, null, null, IMAGE);
        assertThatThrownBy(source::open).hasMessageContaining("127.0.0.1");
    }

    @Test
    void thePathIsSearchedInOrder(@TempDir Path first, @TempDir Path second) throws IOException {
        Files.createDirectory(first.resolve("redis-server"));
        Path binary = Files.createFile(
                second.resolve("redis-server"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        assertThat(RedisBinary.onPath(first + "::" + second)).contains(new RedisBinary(binary, Backend.PATH));
        assertThat(RedisBinary.onPath(first.toString())).isEmpty();
        assertThat(RedisBinary.onPath(null)).isEmpty();
    }

    @Test
    void theEmbeddedBinaryIsTheLastResort() {
        try (RedisServer redis =
                new RedisSource(null, null, null, "", IMAGE).open().server()) {
            assertThat(redis.backend()).isEqualTo(Backend.EMBEDDED);
        }
    }

    @Test
    void oneBackendCanBeForced() {
        try (RedisServer redis = new RedisSource(
                        "redis://127.0.0.1:1", Backend.EMBEDDED, null, System.getenv("PATH"), IMAGE)
                .open()
                .server()) {
            assertThat(redis.backend()).isEqualTo(Backend.EMBEDDED);
        }
        assertThatThrownBy(() -> new RedisSource(null, Backend.PATH, null, "", IMAGE).open())
                .isInstanceOf(NoRedisException.class)
                .hasMessage("no Redis to start here: no redis-server on PATH, only PATH is allowed");
        assertThatThrownBy(() -> new RedisSource("redis://127.0.0.1:1", Backend.EXISTING, null, "", IMAGE)
                        .start(RedisOptions.DEFAULT))
                .isInstanceOf(NoRedisException.class)
                .hasMessage("no Redis to start here: only SLUICE_REDIS is allowed");
    }

    @Test
    void oneBackendCanBeTriedFirstAndIsPassedOverWhereItIsNot() {
        RedisSource containers = new RedisSource(null, null, Backend.DOCKER, "", IMAGE);
        RedisSource.Found found = containers.start(RedisOptions.DEFAULT);
        try (RedisServer redis = found.server()) {
            assertThat(redis.backend()).isEqualTo(Backend.EMBEDDED);
            assertThat(found.missing()).hasSize(2).last().isEqualTo("no redis-server on PATH");
        }
        RedisSource embedded = new RedisSource(null, null, Backend.EMBEDDED, System.getenv("PATH"), IMAGE);
        try (RedisServer redis = embedded.start(RedisOptions.DEFAULT).server()) {
            assertThat(redis.backend()).isEqualTo(Backend.EMBEDDED);
        }
    }

    @Test
    void anUnknownBackendIsNamed() {
        assertThat(Backend.of("docker")).isEqualTo(Backend.DOCKER);
        assertThatThrownBy(() -> Backend.of("floppy"))
                .hasMessage("Redis backend must be one of existing, path, docker, embedded; got 'floppy'");
    }
}
