package io.sluice.testbed.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisException;
import io.sluice.testbed.redis.Namespaces.Host;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Hosts of our own, and the cables between them. */
@WithNamespaces(hosts = 2)
@Timeout(60)
class NamespacesIT {
    private static final Duration BRIEF = Duration.ofMillis(500);

    private final Namespaces network;

    NamespacesIT(Namespaces network) {
        this.network = network;
    }

    @Test
    void whoIsCutOffIsHeardByNobodyUntilItIsConnectedAgain() throws Exception {
        Host first = network.hosts().get(0);
        Host second = network.hosts().get(1);
        assertThat(first.address()).isNotEqualTo(second.address());
        RedisServer redis = first.redis(RedisOptions.DEFAULT.withPassword("secret"));
        assertThat(redis.command("PING")).as("from here").isEqualTo("PONG");
        assertThat(connects(second, redis)).as("from the other host").isTrue();

        first.cutOff();
        assertThatThrownBy(() -> Commands.run(BRIEF, redis.uri(), "PING")).isInstanceOf(RedisException.class);
        assertThat(connects(second, redis)).isFalse();
        assertThat(connects(first, redis)).as("from its own host").isTrue();

        first.heal();
        assertThat(connects(second, redis)).isTrue();
        assertThat(redis.command("PING")).isEqualTo("PONG");
    }

    @Test
    void aProcessOnAHostEndsWithIt() throws IOException {
        Process process;
        String prefix;
        try (Namespaces other = Namespaces.start(1)) {
            process = other.hosts().get(0).start(new ProcessBuilder("sleep", "600"));
            prefix = prefix(other);
            assertThat(process.isAlive()).isTrue();
            assertThat(namespaces()).anyMatch(name -> name.startsWith(prefix));
        }
        assertThat(process.isAlive()).isFalse();
        assertThat(namespaces()).noneMatch(name -> name.startsWith(prefix));
    }

    @Test
    void nothingIsLeftOfAJvmThatIsKilled() throws Exception {
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Starter.class.getName())
                .redirectError(Redirect.DISCARD)
                .start();
        BufferedReader output = jvm.inputReader(StandardCharsets.UTF_8);
        String prefix = output.readLine();
        long sleeper = Long.parseLong(output.readLine());
        assertThat(namespaces()).anyMatch(name -> name.startsWith(prefix));
        assertThat(ProcessHandle.of(sleeper)).isPresent();

        jvm.destroyForcibly();

        Await.until(
                Duration.ofSeconds(10),
                () -> namespaces().stream().noneMatch(name -> name.startsWith(prefix))
                        && ProcessHandle.of(sleeper).isEmpty()
                        && !new File("/sys/class/net", prefix).exists(),
                () -> "the end of " + prefix + ": " + namespaces());
    }

    private static boolean connects(Host from, RedisServer to) throws Exception {
        String script = "exec 3<>/dev/tcp/" + to.address() + "/" + to.port();
        Process process =
                from.start(new ProcessBuilder("timeout", "1", "bash", "-c", script).redirectErrorStream(true));
        return process.waitFor() == 0;
    }

    private static String prefix(Namespaces network) {
        List<String> command = network.hosts().get(0).command(List.of());
        String last = command.get(command.size() - 1);
        return last.substring(last.lastIndexOf('/') + 1, last.lastIndexOf('h'));
    }

    private static List<String> namespaces() {
        String[] names = new File("/run/netns").list();
        return names == null ? List.of() : List.of(names);
    }

    /** Makes a host with a process on it, says how it is called, and leaves it to others to end it. */
    static final class Starter {
        private Starter() {}

        // Ended by whoever kills this JVM.
        @SuppressWarnings("resource")
        public static void main(String[] args) throws IOException {
            Namespaces network = Namespaces.start(1);
            Process sleeper = network.hosts().get(0).start(new ProcessBuilder("sleep", "600"));
            System.out.println(prefix(network));
            System.out.println(sleeper.pid());
            System.in.transferTo(System.out);
        }
    }
}
