package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProfileTest {
    @TempDir
    private Path directory;

    @Test
    void readsWhatTheJavadocSays() throws IOException {
        Profile profile = load("""
                model: claude-haiku-4-5
                think_ms: 50
                sizes:
                  - {name: one, share: 1, input: 10, cache_read: 20, output: 30, max_output: 40, duration_ms: 50}
                priorities: {interactive: 1, batch: 3}
                teams: {core: 1}
                """);

        assertThat(profile.model()).isEqualTo("claude-haiku-4-5");
        assertThat(profile.sizes()).containsExactly(new Profile.Size("one", 1, 10, 20, 30, 40, 50));
        assertThat(profile.priorities()).containsEntry("batch", 3);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {}                                                                   | at least one size
            {sizes: [{name: a, share: 0, max_output: 1}]}                        | share of size a
            {sizes: [{name: a, share: 1}]}                                       | max_output below 1
            {sizes: [{name: a, share: 1, max_output: 1}], spread: 2}             | spread must be 0 to 0.9
            {sizes: [{name: a, share: 1, max_output: 1}], priorities: {fast: 1}} | got 'fast'
            {size: []}                                                           | size
            {sizes: [}                                                           | profile
            """)
    void saysWhatIsWrongInOneLine(String text, String words) {
        assertThatThrownBy(() -> load(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(words);
    }

    private Profile load(String text) throws IOException {
        Path file = directory.resolve("profile.yaml");
        Files.writeString(file, text);
        return Profile.load(file.toString());
    }
}
