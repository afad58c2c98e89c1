package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.RedisServers;
import io.sluice.testbed.server.ServerOptions;
import io.sluice.testbed.server.ServerProcess;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What an operator types, at the server that was built and at its Redis: both do the same, and say the same. */
@Timeout(240)
class CommandsOverHttpIT {
    private static RedisServer redis;
    private static ServerProcess server;

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void start() {
        redis = RedisServers.start();
        server = ServerProcess.start(ServerOptions.of(ServerOptions.builtIn(Home.directory()), redis.uri())
                .with("sluice.redis-timeout", "5s"));
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
        redis.close();
    }

    /** By which way, and whose project. */
    static Stream<List<String>> ways() {
        return Stream.of(
                List.of("over-http", "--server", server.uri().toString()), List.of("by-redis", "--redis", redis.uri()));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void policiesAreAppliedAndReadHoldsMadeAndReleased(List<String> way) throws IOException {
        String project = way.get(0);
        Path file = policy(project);
        assertThat(run(way, "policy", "apply", file.toString())).isZero();
        assertThat(said()).isEqualTo(project + ": version 1 is in force");
        assertThat(run(way, "policy", "apply", file.toString(), "--json")).isZero();
        assertThat(json().path("version").asLong()).isEqualTo(1);

        assertThat(run(way, "policy", "get", project)).isZero();
        assertThat(json().path("classes").path(0).path("limits").path("itpm").asLong())
                .isEqualTo(2_000_000);
        assertThat(run(way, "policy", "get", project, "--json")).isZero();
        JsonNode read = json();
        assertThat(read.path("version").asLong()).isEqualTo(1);
        assertThat(read.path("policy").path("project").asString()).isEqualTo(project);

        assertThat(run(way, "hold", "--project", project, "--class", "sonnet", "--for", "5m", "--reason", "deploy"))
                .isZero();
        assertThat(said()).isEqualTo(project + ", class sonnet is on hold for 300 s: deploy");
        assertThat(run(way, "status", project)).isZero();
        assertThat(said()).contains(project + "  v1  enforce").contains("deploy");
        assertThat(run(way, "release", "--project", project, "--class", "sonnet", "--json"))
                .isZero();
        assertThat(json().path("released").asBoolean()).isTrue();
        assertThat(run(way, "release", "--project", project)).isZero();
        assertThat(said()).contains("was not on hold");

        assertThat(run(way, "hold", "--project", project, "--reason", "all of it", "--json"))
                .isZero();
        JsonNode held = json();
        assertThat(held.path("scope").asString()).isEqualTo("p");
        assertThat(held.path("left_ms").isNull()).isTrue();
        assertThat(run(way, "release", "--project", project)).isZero();
        assertThat(said()).isEqualTo(project + " is released");
    }

    @ParameterizedTest
    @MethodSource("ways")
    void statusAndPlanTell(List<String> way) throws IOException {
        String project = way.get(0) + "-told";
        assertThat(run(way, "policy", "apply", policy(project).toString())).isZero();
        said();
        assertThat(run(way, "status", "--project", project, "--json")).isZero();
        JsonNode status = json();
        assertThat(status.path("version").asLong()).isEqualTo(1);
        assertThat(status.path("limits").size()).isEqualTo(2);
        assertThat(run(way, "plan", project, "--class", "sonnet", "--input-per-minute", "30000"))
                .isZero();
        assertThat(said()).startsWith("46 agents at 70 %, 53 at 80 %");
        assertThat(run(way, "plan", "--project", project, "--in-flight", "0.5", "--json"))
                .isZero();
        assertThat(json().path("agents_at_80").asInt()).isEqualTo(6);
    }

    /** A class without limits of its own was none when Redis was asked, and one when a server was. */
    @ParameterizedTest
    @MethodSource("ways")
    void aClassWithoutLimitsOfItsOwnIsOneToo(List<String> way) throws IOException {
        String project = way.get(0) + "-plain-class";
        Path file = Files.writeString(directory.resolve(project + ".yaml"), """
                project: %s
                provider: anthropic
                classes: [{name: plain, models: ["claude-*"]}]
                limits: {concurrency: 10}
                """.formatted(project));
        assertThat(run(way, "policy", "apply", file.toString())).isZero();
        said();
        assertThat(run(way, "plan", project, "--class", "plain", "--in-flight", "0.5", "--json"))
                .as(err::toString)
                .isZero();
        assertThat(json().path("agents_at_80").asInt()).isEqualTo(16);
        assertThat(run(way, "plan", "--project", project, "--class", "other", "--in-flight", "0.5"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("the policy has no class other");
    }

    /** 2: what was asked for cannot be, whichever way it was asked. */
    @ParameterizedTest
    @MethodSource("ways")
    void whatCannotBeIsSaidInOneLine(List<String> way) throws IOException {
        String project = way.get(0) + "-not";
        assertThat(run(way, "policy", "apply", policy(project).toString())).isZero();
        said();
        assertThat(run(way, "status", "nobody-has-this")).isEqualTo(2);
        assertThat(run(way, "status", "nobody-has-this", "--watch")).isEqualTo(2);
        assertThat(run(way, "plan", project)).isEqualTo(2);
        assertThat(run(way, "policy", "get", "nobody-has-this")).isEqualTo(2);
        assertThat(run(way, "hold", "nobody-has-this", "--reason", "x")).isEqualTo(2);
        assertThat(run(way, "release", "--project", "nobody-has-this")).isEqualTo(2);
        assertThat(run(way, "status", "No!")).isEqualTo(2);
        assertThat(run(way, "policy", "get", "No!")).isEqualTo(2);
        assertThat(run(way, "hold", "--project", project, "--reason", " ")).isEqualTo(2);
        assertThat(run(way, "hold", "--project", project, "--class", "opus", "--reason", "x"))
                .isEqualTo(2);
        assertThat(run(way, "hold", "--project", project)).isEqualTo(2);
        assertThat(run(way, "status", project, "--times", "2")).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString().lines()).hasSize(12);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"status", "plan", "hold", "release", "doctor", "policy validate", "policy apply", "policy get"})
    void eachCommandHasHelpAndNeedsSomebodyToAsk(String command) {
        String[] words = (command + " --help").split(" ");
        assertThat(Main.run(new PrintWriter(out), new PrintWriter(err), words)).isZero();
        assertThat(said()).startsWith("Usage: sluice " + command);
    }

    @Test
    void theDoctorAsksTheServerToo() {
        Main.run(
                new PrintWriter(out),
                new PrintWriter(err),
                "doctor",
                "--json",
                "--server",
                server.uri().toString());
        assertThat(json().path("checks").values())
                .filteredOn(check -> check.path("name").asString().equals("server"))
                .singleElement()
                .satisfies(check -> assertThat(check.path("state").asString()).isEqualTo("good"));
        assertThat(Main.run(new PrintWriter(out), new PrintWriter(err), "doctor", "--server", "http://127.0.0.1:1"))
                .isEqualTo(3);
        assertThat(said()).contains("nobody answers at http://127.0.0.1:1");
    }

    /** As a process of its own, of the server that runs: a page each second, from the top of the screen, and then it ends. */
    @Test
    void aLiveTableIsDrawnAnewEachSecond() throws IOException, InterruptedException {
        List<String> way = ways().findFirst().orElseThrow();
        assertThat(run(way, "policy", "apply", policy("watched").toString())).isZero();
        Path said = directory.resolve("said");
        Process watching = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "status",
                        "watched",
                        "--watch",
                        "--times",
                        "3",
                        "--server",
                        server.uri().toString())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
            assertThat(watching.waitFor(120, TimeUnit.SECONDS)).isTrue();
            assertThat(watching.exitValue()).isZero();
        } finally {
            watching.destroyForcibly();
        }
        String[] pages = Files.readString(said, StandardCharsets.UTF_8).split("\u001b\\[H\u001b\\[J", -1);
        assertThat(pages).hasSize(4);
        assertThat(pages[0]).isEmpty();
        assertThat(List.of(pages).subList(1, 4))
                .allSatisfy(page -> assertThat(page)
                        .startsWith("watched  v1  enforce\nnobody waits\n")
                        .contains("class sonnet"));
    }

    private Path policy(String project) throws IOException {
        return Files.writeString(directory.resolve(project + ".yaml"), """
                project: %s
                provider: anthropic
                classes:
                  - {name: sonnet, models: ["claude-sonnet-*"], limits: {itpm: 2000000, concurrency: 4}}
                """.formatted(project));
    }

    private int run(List<String> way, String... words) {
        List<String> args =
                Stream.concat(Stream.of(words), way.stream().skip(1)).toList();
        return Main.run(new PrintWriter(out), new PrintWriter(err), args.toArray(String[]::new));
    }

    private JsonNode json() {
        return JsonMapper.shared().readTree(said());
    }

    /** What was printed since the last call. */
    private String said() {
        String text = out.toString().strip();
        out.getBuffer().setLength(0);
        return text;
    }
}
