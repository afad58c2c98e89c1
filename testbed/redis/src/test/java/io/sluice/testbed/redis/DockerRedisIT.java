package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisException;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DockerRedisIT {

    @BeforeAll
    static void needsAnEngineWithTheImage() {
        Optional<String> missing = DockerRedis.missing(DockerRedis.DEFAULT_IMAGE, false);
        missing.ifPresent(reason -> System.err.println("skipped: DockerRedisIT, " + reason));
        Assumptions.assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
    }

    @Test
    void isPausedKilledAndRestartedOnTheSamePort() {
        RedisOptions options = RedisOptions.DEFAULT.keepingData().with("--maxmemory", "50mb");
        try (RedisServer redis = DockerRedis.start(DockerRedis.DEFAULT_IMAGE, options, false)) {
            int port = redis.port();
            assertThat(redis.backend()).isEqualTo(Backend.DOCKER);
            assertThat(redis.version()).matches("\\d+\\.\\d+\\.\\d+");
            assertThat(redis.command("CONFIG", "GET", "maxmemory")).isEqualTo("maxmemory\n52428800");
            redis.command("SET", "a", "1");

            redis.kill();
            assertThat(redis.running()).isFalse();
            assertThatThrownBy(() -> redis.command("PING")).isInstanceOf(RedisException.class);
            redis.kill();

            redis.restart();
            assertThat(redis.running()).isTrue();
            assertThat(redis.port()).isEqualTo(port);
            assertThat(redis.command("GET", "a")).isEqualTo("1");

            redis.pause();
            assertThat(redis.running()).isTrue();
            redis.resume();
            assertThat(redis.command("GET", "a")).isEqualTo("1");
        }
    }
}
