package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisException;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A JVM leaves nothing behind, however it ends. */
@Timeout(30)
class ScratchIT {
    private static final Duration GONE = Duration.ofSeconds(5);

    @Test
    void nothingIsLeftOfAJvmThatExits() throws Exception {
        Started started = start();
        started.jvm().getOutputStream().close();
        assertThat(started.jvm().waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(started.jvm().exitValue()).isZero();
        started.awaitGone();
    }

    @Test
    void nothingIsLeftOfAJvmThatIsKilled() throws Exception {
        Started started = start();
        started.jvm().destroyForcibly();
        started.awaitGone();
    }

    private static Started start() throws IOException {
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Starter.class.getName())
                .redirectError(Redirect.DISCARD)
                .start();
        BufferedReader output = jvm.inputReader(StandardCharsets.UTF_8);
        Started started = new Started(jvm, output.readLine(), Path.of(output.readLine()));
        assertThat(Commands.run(started.uri(), "PING")).isEqualTo("PONG");
        return started;
    }

    private record Started(Process jvm, String uri, Path directory) {
        void awaitGone() {
            Await.until(GONE, () -> !answers() && Files.notExists(directory.getParent()), () -> "the end of " + uri);
        }

        private boolean answers() {
            try {
                return Commands.run(uri, "PING").equals("PONG");
            } catch (RedisException gone) {
                return false;
            }
        }
    }

    /** Starts a server, says where it is, and leaves it to others to end it. */
    static final class Starter {
        private Starter() {}

        public static void main(String[] args) throws IOException {
            RedisBinary binary = RedisSource.fromEnvironment().binary();
            RedisProcess redis = RedisProcess.start(binary, RedisOptions.DEFAULT);
            System.out.println(redis.uri());
            System.out.println(redis.directory());
            System.in.transferTo(System.out);
        }
    }
}
