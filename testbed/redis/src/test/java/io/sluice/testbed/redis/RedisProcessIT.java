package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a server of our own does, for each binary that can be run here. */
@Timeout(30)
class RedisProcessIT {

    @ParameterizedTest
    @EnumSource(names = {"PATH", "EMBEDDED"})
    void isUpInAMomentAndSaysWhatItIs(Backend backend) {
        RedisBinary binary = binary(backend);
        long start = System.nanoTime();

        try (RedisServer redis = RedisProcess.start(binary, RedisOptions.DEFAULT)) {
            // Some 50 ms by itself: the bound leaves room for a busy machine.
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
            assertThat(redis.backend()).isEqualTo(backend);
            assertThat(redis.version()).matches("\\d+\\.\\d+\\.\\d+");
            assertThat(redis.uri()).isEqualTo("redis://127.0.0.1:" + redis.port());
            assertThat(redis.command("INFO", "server"))
                    .contains("redis_version:" + redis.version())
                    .contains("process_id:" + redis.pid().orElseThrow());
            assertThat(redis.command("CONFIG", "GET", "maxmemory-policy")).isEqualTo("maxmemory-policy\nnoeviction");
            assertThat(redis.command("CONFIG", "GET", "save")).isEqualTo("save\n");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PATH", "EMBEDDED"})
    void leavesNoProcessAndNoDirectory(Backend backend) {
        RedisProcess redis = RedisProcess.start(binary(backend), RedisOptions.DEFAULT);
        Path directory = redis.directory();
        long pid = redis.pid().orElseThrow();
        assertThat(ProcessHandle.of(pid)).isPresent();
        assertThat(directory).isDirectory();

        redis.close();

        assertThat(ProcessHandle.of(pid)).isEmpty();
        assertThat(directory).doesNotExist();
        redis.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"PATH", "EMBEDDED"})
    void comesBackEmptyOnTheSamePortAfterAKill(Backend backend) {
        try (RedisServer redis = RedisProcess.start(binary(backend), RedisOptions.DEFAULT)) {
            int port = redis.port();
            redis.command("SET", "a", "1");
            long first = redis.pid().orElseThrow();

            redis.kill();
            assertThat(redis.running()).isFalse();
            assertThat(ProcessHandle.of(first)).isEmpty();
            assertThatThrownBy(() -> redis.command("PING")).isInstanceOf(RedisException.class);

            redis.restart();
            assertThat(redis.running()).isTrue();
            assertThat(redis.port()).isEqualTo(port);
            assertThat(redis.pid().orElseThrow()).isNotEqualTo(first);
            assertThat(redis.command("EXISTS", "a")).isEqualTo("0");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PATH", "EMBEDDED"})
    void keepsItsDataWhenAskedTo(Backend backend) {
        try (RedisServer redis = RedisProcess.start(binary(backend), RedisOptions.DEFAULT.keepingData())) {
            redis.command("SET", "a", "1");
            redis.kill();
            redis.restart();
            assertThat(redis.command("GET", "a")).isEqualTo("1");

            redis.command("SET", "a", "2");
            redis.restart();
            assertThat(redis.command("GET", "a")).isEqualTo("2");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PATH", "EMBEDDED"})
    void answersNothingWhilePaused(Backend backend) throws Exception {
        try (RedisServer redis = RedisProcess.start(binary(backend), RedisOptions.DEFAULT)) {
            redis.pause();
            Thread asking = new Thread(() -> redis.command("SET", "a", "1"));
            asking.start();
            asking.join(200);
            assertThat(asking.isAlive()).isTrue();
            assertThat(redis.running()).isTrue();

            redis.resume();
            asking.join(5_000);
            assertThat(redis.command("GET", "a")).isEqualTo("1");

            redis.pause();
            redis.restart();
            assertThat(redis.command("PING")).isEqualTo("PONG");
            redis.pause();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PATH", "EMBEDDED"})
    void saysWhatTheServerSaidWhenItCannotStart(Backend backend) {
        RedisBinary binary = binary(backend);
        assertThatThrownBy(() -> RedisProcess.start(binary, RedisOptions.DEFAULT.with("--no-such-setting", "1")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("ended at once")
                .hasMessageContaining("no-such-setting");
    }

    @ParameterizedTest
    @EnumSource(names = {"PATH", "EMBEDDED"})
    void saysThatAnotherTookItsPort(Backend backend) throws IOException {
        try (RedisServer redis = RedisProcess.start(binary(backend), RedisOptions.DEFAULT)) {
            redis.kill();
            try (ServerSocket other = new ServerSocket(redis.port(), 1, InetAddress.getLoopbackAddress())) {
                assertThat(other.isBound()).isTrue();
                assertThatThrownBy(redis::restart)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("port " + redis.port() + " is taken");
            }
            redis.restart();
            assertThat(redis.command("PING")).isEqualTo("PONG");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PATH", "EMBEDDED"})
    void answersAsText(Backend backend) {
        try (RedisServer redis =
                RedisProcess.start(binary(backend), RedisOptions.DEFAULT.with("--maxmemory", "50mb"))) {
            assertThat(redis.command("config", "get", "maxmemory")).isEqualTo("maxmemory\n52428800");
            assertThat(redis.command("GET", "nothing")).isEmpty();
            assertThat(redis.command("EVAL", "return {1, {'two', {3}}, false, 'four'}", "0"))
                    .isEqualTo("1\ntwo\n3\n\nfour");
            assertThat(redis.command("SET", "ü", "ß")).isEqualTo("OK");
            assertThat(redis.command("GET", "ü")).isEqualTo("ß");
            assertThatThrownBy(() -> redis.command("NONSENSE"))
                    .isInstanceOf(RedisCommandExecutionException.class)
                    .hasMessageContaining("unknown command");
            assertThatThrownBy(redis::command).isInstanceOf(IllegalArgumentException.class);
        }
    }

    static RedisBinary binary(Backend backend) {
        Optional<RedisBinary> binary =
                backend == Backend.PATH ? RedisBinary.onPath(System.getenv("PATH")) : RedisBinary.embedded();
        if (binary.isEmpty()) {
            String reason = "there is no Redis from " + backend.description() + " here";
            System.err.println("skipped: " + reason);
            return Assumptions.abort(reason);
        }
        assertThat(Files.isExecutable(binary.get().file())).isTrue();
        return binary.get();
    }
}
