package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SuggestTest {
    @ParameterizedTest
    @CsvSource({
        "rmp,      '; did you mean rpm?'", // swapped
        "itpmm,    '; did you mean itpm?'", // one too many
        "concurency, '; did you mean concurrency?'",
        "images,   ''",
        "x,        ''",
        "'',       ''"
    })
    void suggestsWhatIsNear(String word, String expected) {
        assertThat(Suggest.near(word, List.of("rpm", "itpm", "concurrency"))).isEqualTo(expected);
    }
}
