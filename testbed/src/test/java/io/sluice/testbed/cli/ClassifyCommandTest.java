package io.sluice.testbed.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ClassifyCommandTest {
    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void tellsWhatAnAnswerMeans() throws IOException {
        Path headers = write("h", "HTTP/1.1 429\r\nRetry-After: 12\r\nX-Odd:\r\nno header\r\n");
        Path body = write(
                "b", "{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"30,000 input tokens per minute\"}}");

        assertThat(run("--provider", "Anthropic", "--status", "429", "--headers", "" + headers, "--body", "" + body))
                .isZero();

        JsonNode told = new JsonMapper().readTree(out.toString());
        assertThat(told.path("kind").asString()).isEqualTo("input");
        assertThat(told.path("wait_ms").asLong()).isEqualTo(12_000);
        assertThat(told.path("scope").asString()).isEqualTo("class");
        assertThat(told.path("limit").asLong()).isEqualTo(30_000);
    }

    /** The status is enough: an empty body is one that a proxy answered with. */
    @Test
    void anEmptyBodyIsAnAnswer() throws IOException {
        Path empty = write("b", "");

        assertThat(run("--provider", "generic", "--status", "429", "--body", "" + empty, "--json"))
                .isZero();

        assertThat(out.toString().lines()).hasSize(1);
        assertThat(new JsonMapper().readTree(out.toString()).path("kind").asString())
                .isEqualTo("requests");
    }

    @Test
    void aStreamIsReadToItsEnd() throws IOException {
        Path stream = write("s", "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n");

        assertThat(run("--provider", "anthropic", "--status", "200", "--sse", "" + stream))
                .isZero();

        assertThat(out.toString()).contains("\"overload\"").contains("\"in_stream\"");
    }

    @Test
    void theDaysEndDependsOnNow() throws IOException {
        Path body = write("b", "{\"error\":{\"code\":\"quota_exceeded\"}}");

        run("--provider", "gemini", "--status", "429", "--body", "" + body, "--now", "2026-12-01T00:00:00-08:00");

        JsonNode told = new JsonMapper().readTree(out.toString());
        assertThat(told.path("until").asString()).isEqualTo("2026-12-02T08:00:00Z");
        assertThat(told.path("wait_ms").asLong()).isEqualTo(86_400_000);
    }

    @Test
    void theSpeedAskedForTellsThePool() throws IOException {
        Path body = write("b", "{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"9 input tokens per minute\"}}");

        run("--provider", "anthropic", "--status", "429", "--body", "" + body, "--speed", "fast");

        assertThat(out.toString()).contains("org+fast-pool");
    }

    @Test
    void whatItDoesNotKnowIsAUsageError() throws IOException {
        String body = "" + write("b", "{}");

        for (List<String> arguments : List.of(
                List.of("--provider", "acme", "--status", "429", "--body", body),
                List.of("--provider", "openai", "--status", "1000", "--body", body),
                List.of("--provider", "openai", "--status", "many", "--body", body),
                List.of("--provider", "openai", "--status", "429"),
                List.of("--provider", "openai", "--body", body),
                List.of("--status", "429", "--body", body),
                List.of("--provider", "openai", "--status", "429", "--body", body, "--sse", body),
                List.of("--provider", "openai", "--status", "429", "--body", body + "-is-not-there"),
                List.of("--provider", "openai", "--status", "200", "--sse", "" + directory),
                List.of("--provider", "openai", "--status", "429", "--body", body, "--now", "tomorrow"))) {
            assertThat(run(arguments.toArray(String[]::new))).as("" + arguments).isEqualTo(2);
        }
        assertThat(out.toString()).isEmpty();
        assertThat(err.toString().lines()).hasSize(10);
    }

    private int run(String... arguments) {
        List<String> all = new ArrayList<>(List.of("classify"));
        all.addAll(List.of(arguments));
        return Main.run(new PrintWriter(out), new PrintWriter(err), all.toArray(String[]::new));
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }
}
