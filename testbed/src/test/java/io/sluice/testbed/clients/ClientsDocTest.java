package io.sluice.testbed.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What docs/clients.md shows is what compiles and runs here. */
class ClientsDocTest {
    private static final Path DOCS = Path.of("..", "docs", "clients.md");
    private static final Path HERE = Path.of("src/test/java/io/sluice/testbed/clients");

    @Test
    void everyExampleIsOneThatRuns() throws IOException {
        String examples;
        try (Stream<Path> files = Files.list(HERE)) {
            examples = files.filter(file -> file.toString().endsWith("Example.java"))
                    .map(ClientsDocTest::words)
                    .collect(Collectors.joining());
        }
        List<String> shown = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(DOCS))
                .results()
                .map((MatchResult block) -> words(block.group(1)))
                .toList();
        assertThat(shown).hasSizeGreaterThan(8);
        // The first is the README's, compiled with that.
        assertThat(shown.subList(1, shown.size()))
                .allSatisfy(block -> assertThat(examples).contains(block));
    }

    private static String words(Path file) {
        try {
            return words(Files.readString(file));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String words(String code) {
        return code.replaceAll("\\s+", "");
    }
}
