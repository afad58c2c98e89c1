package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class PolicyCommandTest {
    private static final String TWO_PROBLEMS = """
            project: acme
            provider: anthropic
            headroom: 7
            classes:
              - name: all
                models: ["*"]
                limits: {rpm: many}
            """;

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();

    @Test
    void tellsEveryProblemWithFileLineAndPath() throws IOException {
        Path file = write(TWO_PROBLEMS);

        assertThat(validate(file)).isEqualTo(1);
        assertThat(out.toString().lines())
                .hasSize(2)
                .anyMatch(line -> line.startsWith(file + ":3: /headroom: "))
                .anyMatch(line -> line.startsWith(file + ":7: /classes/0/limits/rpm: "));
    }

    /** The first problem alone was told, and exit 2. */
    @Test
    void toApplyAnInvalidOneTellsAllOfThemTooAndAsksNobody() throws IOException {
        Path file = write(TWO_PROBLEMS);
        StringWriter err = new StringWriter();
        String[] typed = {"policy", "apply", file.toString(), "--redis", "redis://localhost:1"};

        assertThat(Main.run(new PrintWriter(out), new PrintWriter(err), typed)).isEqualTo(1);
        assertThat(out.toString()).isEmpty();
        assertThat(validate(file)).isEqualTo(1);
        assertThat(err).hasToString(out.toString());
    }

    @Test
    void tellsTheSameAsJson() throws IOException {
        assertThat(validate(write(TWO_PROBLEMS), "--json")).isEqualTo(1);

        JsonNode answer = new JsonMapper().readTree(out.toString());
        assertThat(answer.path("valid").asBoolean()).isFalse();
        assertThat(answer.path("problems").size()).isEqualTo(2);
        assertThat(answer.path("problems").path(0).path("path").asString()).startsWith("/");
        assertThat(answer.path("problems").path(0).path("line").asInt()).isPositive();
    }

    @Test
    void saysThatAValidPolicyIsValid() throws IOException {
        Path file = write(TWO_PROBLEMS.replace("7", "0.9").replace("many", "60"));

        assertThat(validate(file)).isZero();
        assertThat(out).hasToString(file + ": valid" + System.lineSeparator());
    }

    @Test
    void knowsThePresets() throws IOException {
        assertThat(validate(write("project: acme\npreset: spheron/growth\n"))).isZero();
        assertThat(validate(write("project: acme\npreset: spheron/groth\n"))).isEqualTo(1);
        assertThat(out.toString())
                .contains(":2: /preset: is no preset; did you mean spheron/growth?; there are anthropic/start,");
    }

    private int validate(Path file, String... more) {
        String[] args = new String[3 + more.length];
        args[0] = "policy";
        args[1] = "validate";
        args[2] = file.toString();
        System.arraycopy(more, 0, args, 3, more.length);
        return Main.run(new PrintWriter(out), new PrintWriter(new StringWriter()), args);
    }

    private Path write(String policy) throws IOException {
        return Files.writeString(directory.resolve("policy.yaml"), policy);
    }
}
