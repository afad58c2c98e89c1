package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("smoke")
class PolicyCommandIT {
    private static RedisServer redis;

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void start() {
        redis = RedisServers.start();
    }

    @AfterAll
    static void stop() {
        redis.close();
    }

    @Test
    void whatIsAppliedCanBeReadBackAndAppliedAgain() throws IOException {
        Path file = Files.writeString(directory.resolve("policy.yaml"), """
                project: acme
                provider: anthropic
                classes: [{name: all, models: ["*"], limits: {rpm: 60}}]
                """);

        assertThat(run("policy", "apply", file.toString())).isZero();
        assertThat(said()).isEqualTo("acme: version 1 is in force");

        assertThat(run("policy", "get", "acme")).isZero();
        Path read = Files.writeString(directory.resolve("read.json"), said());
        assertThat(run("policy", "apply", read.toString(), "--json")).isZero();
        assertThat(said()).contains("\"version\":1").contains("\"project\":\"acme\"");

        assertThat(run("policy", "get", "acme", "--json")).isZero();
        assertThat(said()).startsWith("{\"project\":\"acme\",\"version\":1,\"policy\":{");
    }

    @Test
    void aProjectWithoutPolicyIsOneLineAndExitTwo() {
        assertThat(run("policy", "get", "nobody")).isEqualTo(2);
        assertThat(err.toString().lines()).singleElement().asString().contains("project nobody is not installed");
    }

    @Test
    void aProjectThatCannotBeIsAUsageError() {
        assertThat(run("policy", "get", "No!")).isEqualTo(2);
        assertThat(err.toString().lines()).singleElement().asString().contains("'No!'");
    }

    private int run(String... words) {
        String[] args = new String[words.length + 2];
        System.arraycopy(words, 0, args, 0, words.length);
        args[words.length] = "--redis";
        args[words.length + 1] = redis.uri();
        return Main.run(new PrintWriter(out), new PrintWriter(err), args);
    }

    /** What was printed since the last call. */
    private String said() {
        String text = out.toString().strip();
        out.getBuffer().setLength(0);
        return text;
    }
}
