package io.sluice.server.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Call;
import io.sluice.Permit;
import io.sluice.Policy;
import io.sluice.Sluice;
import io.sluice.testbed.redis.RedisServer;
import io.sluice.testbed.redis.WithRedis;
import io.sluice.testbed.server.ServerOptions;
import io.sluice.testbed.server.ServerProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** What stands in {@code examples/} is run as it stands there. */
@WithRedis
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(300)
class ExamplesIT {
    private static final Path EXAMPLES =
            Path.of("..", "examples").toAbsolutePath().normalize();
    private static final String TOKEN = "slc_" + "5".repeat(64);
    private static final String PROJECT = "examples";

    @TempDir
    private static Path directory;

    private Sluice sluice;
    private ServerProcess server;

    /** @param command before the project and the model */
    record Example(String program, List<String> command) {
        @Override
        public String toString() {
            return command.get(command.size() - 1);
        }
    }

    static Stream<Example> examples() {
        return Stream.of(
                new Example("curl", List.of("sh", "curl.sh")),
                new Example("python3", List.of("python3", "sluice.py")),
                new Example("node", List.of("node", "sluice.mjs")));
    }

    @BeforeAll
    void start(RedisServer redis) throws IOException, NoSuchAlgorithmException {
        sluice = Sluice.connect(redis.uri());
        sluice.install(Policy.parse("""
                project: %s
                provider: anthropic
                lease: 1s
                classes:
                  - name: sonnet
                    models: ["claude-sonnet-*"]
                    limits: {concurrency: 1}
                """.formatted(PROJECT)));
        Path tokens = Files.writeString(directory.resolve("tokens.yaml"), """
                tokens:
                  - {name: examples, sha256: %s, role: agent, projects: [%s]}
                """.formatted(
                HexFormat.of()
                        .formatHex(MessageDigest.getInstance("SHA-256").digest(TOKEN.getBytes(StandardCharsets.UTF_8))),
                PROJECT));
        server = ServerProcess.start(ServerOptions.of(ServerOptions.builtIn(Path.of("..")), redis.uri())
                .with("sluice.tokens", tokens.toString()));
    }

    @AfterAll
    void stop() {
        if (server != null) {
            server.close();
        }
        sluice.close();
    }

    @ParameterizedTest
    @MethodSource("examples")
    void takesAPermitAndEndsIt(Example example) throws InterruptedException {
        Program.needs(example.program, "--version");
        try (Program program = run(example.command, PROJECT, "claude-sonnet-5-5")) {
            assertThat(program.end()).as(program::toString).isZero();
            assertThat(program.out()).contains("granted on sonnet after ").contains("done");
        }
        // Its slot is free at once.
        hold().cancel();
    }

    @ParameterizedTest
    @MethodSource("examples")
    void aRefusalIsSaidAndIsAFailure(Example example) {
        Program.needs(example.program, "--version");
        try (Program program = run(example.command, PROJECT, "gpt-unheard-of")) {
            assertThat(program.end()).as(program::toString).isEqualTo(1);
            assertThat(program.err()).contains("unknown_model");
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void withoutAKnownTokenThereIsNoPermit(Example example) {
        Program.needs(example.program, "--version");
        try (Program program = Program.start(
                EXAMPLES,
                Map.of("SLUICE_URL", server.uri().toString(), "SLUICE_TOKEN", "slc_" + "6".repeat(64)),
                Stream.concat(example.command.stream(), Stream.of(PROJECT, "claude-sonnet-5-5"))
                        .toList())) {
            assertThat(program.end()).as(program::toString).isEqualTo(1);
            assertThat(program.out() + program.err()).doesNotContain("granted");
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void aWaitEndsWithThePermit(Example example) throws InterruptedException {
        Program.needs(example.program, "--version");
        Permit held = hold();
        try (Program program = run(example.command, PROJECT, "claude-sonnet-5-5")) {
            if (!example.program.equals("curl")) { // which waits in silence
                await().atMost(Duration.ofSeconds(60))
                        .untilAsserted(() -> assertThat(program.err())
                                .as(program::toString)
                                .contains("waiting on examples concurrency: place 1"));
            }
            assertThat(program.out()).doesNotContain("granted");
            held.cancel();
            assertThat(program.end()).as(program::toString).isZero();
            assertThat(program.out()).contains("granted on sonnet");
        }
    }

    @Test
    void pythonKeepsItsPermitForAsLongAsTheBlockRuns() {
        Program.needs("python3", "--version");
        String lines = """
                import os, time
                from sluice import Project
                project = Project(os.environ["SLUICE_URL"], "examples", agent="renewing")
                with project.permit("claude-sonnet-5-5", input_tokens=10, max_wait=60) as permit:
                    time.sleep(2.5)  # two leases and a half
                    project.request("POST", "/permits/%s/renew" % permit.id)  # 410 had it been lost
                    assert not permit.lost.is_set()
                try:
                    project.request("POST", "/permits/%s/renew" % permit.id)
                except Exception as gone:
                    print("after the block", gone.status)
                """;
        try (Program program = run(List.of("python3", "-c", lines))) {
            assertThat(program.end()).as(program::toString).isZero();
            assertThat(program.out()).contains("after the block 410");
        }
    }

    @Test
    void nodeKeepsItsPermitForAsLongAsTheCallRuns() {
        Program.needs("node", "--version");
        String lines = """
                import {Project} from './sluice.mjs';
                const project = new Project(process.env.SLUICE_URL, 'examples', {agent: 'renewing'});
                let kept;
                await project.call({model: 'claude-sonnet-5-5', input_tokens: 10}, 60_000, async permit => {
                  kept = permit;
                  await new Promise(resolve => setTimeout(resolve, 2_500));
                  await project.request('POST', `/permits/${permit.id}/renew`); // 410 had it been lost
                });
                await project.request('POST', `/permits/${kept.id}/renew`)
                    .catch(gone => console.log('after the call', gone.status));
                """;
        try (Program program = run(List.of("node", "--input-type=module", "-e", lines))) {
            assertThat(program.end()).as(program::toString).isZero();
            assertThat(program.out()).contains("after the call 410");
        }
    }

    /** What its pods run, with the names that Kubernetes gives them. */
    @Test
    void theLinesOfTheJobAreAProgram() throws IOException {
        Program.needs("python3", "--version");
        String manifest = Files.readString(Path.of("..", "k8s", "examples", "job.yaml"));
        String lines = new YAMLMapper()
                .readTree(manifest)
                .at("/spec/template/spec/containers/0/args/0")
                .asString();
        try (Program program = Program.start(
                EXAMPLES,
                Map.of(
                        "SLUICE_URL",
                        server.uri().toString(),
                        "SLUICE_TOKEN",
                        TOKEN,
                        "SLUICE_PROJECT",
                        PROJECT,
                        "POD_NAME",
                        "summaries-7-x",
                        "JOB_COMPLETION_INDEX",
                        "7"),
                List.of("python3", "-c", lines))) {
            assertThat(program.end()).as(program::toString).isZero();
            assertThat(program.out()).contains("task 7 waited");
        }
    }

    private Permit hold() throws InterruptedException {
        return sluice.project(PROJECT).acquire(Call.of("claude-sonnet-5-5").inputTokens(1), Duration.ofSeconds(60));
    }

    private Program run(List<String> command, String... arguments) {
        return Program.start(
                EXAMPLES,
                Map.of("SLUICE_URL", server.uri().toString(), "SLUICE_TOKEN", TOKEN),
                Stream.concat(command.stream(), Stream.of(arguments)).toList());
    }
}
