package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.sluice.Policy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What docs/proofs.md runs is there and can be read. */
class ProofsTest {
    private static final Path FOLDER = Path.of("proofs");

    static List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(FOLDER)) {
            return all.filter(file -> file.toString().endsWith(".yaml"))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void everyFileIsValid(Path file) {
        assertThatCode(() -> {
                    if (file.toString().endsWith(".agents.yaml")) {
                        Profile.load(file.toString());
                    } else {
                        assertThat(Policy.load(file).project()).isEqualTo("proof");
                    }
                })
                .doesNotThrowAnyException();
    }

    @Test
    void everyProofThatIsDocumentedCanBeRun() throws IOException {
        List<String> documented = Files.readAllLines(Path.of("../docs/proofs.md")).stream()
                .filter(line -> line.startsWith("| `"))
                .flatMap(line ->
                        Stream.of(line.split("\\|", -1)[1].replace("`", "").split(",", -1)))
                .map(String::strip)
                .toList();
        String script = Files.readString(FOLDER.resolve("run"));

        assertThat(documented)
                .hasSizeGreaterThan(10)
                .allSatisfy(name -> assertThat(script)
                        .containsPattern("(?m)^  ([a-z| -]*\\| )?" + name + "( \\|[a-z| -]*)?\\) emulator="));
    }
}
