package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.provider.Anthropic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the README shows is what compiles, and its policy is one. */
class ReadmeTest {
    private static final Path README = Path.of("..", "README.md");
    private static final Path THIS = Path.of("src/test/java/io/sluice/ReadmeTest.java");

    /** The README's lines, compiled; run by nobody. */
    static void quickstart() throws InterruptedException {
        try (Sluice sluice = Sluice.connect("redis://localhost:6379")) {
            sluice.install(Policy.load(Path.of("acme-prod.yaml")));
            Project project = sluice.project("acme-prod");
            Call call = Call.of("claude-sonnet-5-5")
                    .inputTokens(2_000)
                    .cacheReadTokens(10_000)
                    .maxOutputTokens(4_096)
                    .agent("host-3/agent-17");
            try (Permit permit = project.acquire(call, Duration.ofSeconds(30))) {
                // ... send the request ...
                permit.settle(new Usage(900, 10_000, 0, 250));
            }
            // Or all of that, the retries included:
            Response response = project.call(call, Anthropic.PROFILE, attempt -> send(attempt));
            System.out.println(response.body());
        }
    }

    private static Response send(Attempt attempt) {
        return attempt.answered(200, Map.of(), "");
    }

    @Test
    void showsLinesThatCompile() throws IOException {
        assertThat(words(Files.readString(THIS))).contains(words(block("java")));
    }

    @Test
    void showsAPolicyThatIsValid() throws IOException {
        assertThat(Policy.parse(block("yaml")).warnings()).isEmpty();
    }

    private static String block(String language) throws IOException {
        Matcher block =
                Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(README));
        assertThat(block.find()).as("a %s block in the README", language).isTrue();
        return block.group(1);
    }

    private static String words(String code) {
        return code.replaceAll("\\s+", "");
    }
}
