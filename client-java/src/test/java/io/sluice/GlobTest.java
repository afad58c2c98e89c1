package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GlobTest {
    @ParameterizedTest
    @CsvSource({
        "claude-sonnet-*,  claude-sonnet-5,      true",
        "claude-sonnet-*,  claude-sonnet-,       true", // * is also nothing
        "claude-sonnet-*,  claude-sonnet,        false",
        "claude-sonnet-*,  my-claude-sonnet-5,   false", // the whole id
        "claude-sonnet-*,  CLAUDE-Sonnet-5,      true", // either case
        "GPT-5,            gpt-5,                true",
        "gpt-?,            gpt-5,                true",
        "gpt-?,            gpt-,                 false",
        "gpt-?,            gpt-55,               false",
        "*,                anything/at:all,      true",
        "*:free,           meta/llama-3:free,    true",
        "*:free,           meta/llama-3:freed,   false",
        "a*b*c,            aXbYbZc,              true", // the first b is not the right one
        "a*b*c,            abc,                  true",
        "a*b*c,            acb,                  false",
        "**,               x,                    true",
        "a.c,              abc,                  false", // a dot is a dot
        "?*,               x,                    true"
    })
    void matches(String pattern, String model, boolean expected) {
        assertThat(new Glob(pattern).matches(model)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "*,         claude-*,        true",
        "claude-*,  claude-sonnet-*, true",
        "claude-*,  Claude-5,        true",
        "claude-*,  *,               false",
        "claude-?,  claude-*,        false", // the star may be longer
        "claude-?,  claude-?,        true",
        "claude-*,  claude-?,        true",
        "claude-5,  claude-?,        false",
        "m-5,       m-5,             true",
        "*-5,       claude-*,        false"
    })
    void covers(String wide, String narrow, boolean expected) {
        assertThat(new Glob(wide).covers(new Glob(narrow))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "*,         claude-*,        true",
        "claude-*,  *-5,             true", // claude-5
        "claude-*,  gpt-*,           false",
        "a*b,       *c*,             true", // acb
        "a*b,       b*a,             false",
        "m-?,       m-1,             true",
        "m-?,       M-1,             true",
        "m-?,       m-12,            false",
        "m-?,       m-*,             true",
        "m-??,      m-?,             false",
        "m-,        m-*,             true",
        "*a*,       *b*,             true",
        "?,         *,               true",
        "??*,       ?,               false"
    })
    void overlaps(String a, String b, boolean expected) {
        assertThat(new Glob(a).overlaps(new Glob(b))).isEqualTo(expected);
        assertThat(new Glob(b).overlaps(new Glob(a))).isEqualTo(expected);
    }

    /** Two patterns overlap exactly if some text is matched by both; short ones are all tried. */
    @Test
    void overlapsWhereSomeTextIsMatchedByBoth() {
        List<String> texts = words("ab", 7);
        List<Glob> globs = words("ab*?", 3).stream().map(Glob::new).toList();
        for (Glob a : globs) {
            List<String> matched = texts.stream().filter(a::matches).toList();
            for (Glob b : globs) {
                assertThat(a.overlaps(b))
                        .as("%s %s", a, b)
                        .isEqualTo(matched.stream().anyMatch(b::matches));
            }
        }
    }

    /** All of 1 to so many of these letters. */
    private static List<String> words(String letters, int most) {
        List<String> words = new ArrayList<>();
        List<String> shorter = List.of("");
        for (int length = 1; length <= most; length++) {
            shorter = shorter.stream()
                    .flatMap(word -> letters.chars().mapToObj(letter -> word + (char) letter))
                    .toList();
            words.addAll(shorter);
        }
        return words;
    }

    @ParameterizedTest
    @CsvSource({
        "claude-sonnet-*,    true",
        "meta/llama@1.5:free, true",
        "modèle-*,           true",
        "'',                 false",
        "'a b',              false",
        "'a\tb',             false",
        "'[ab]',             false",
        "'{a,b}',            false",
        "'a|b',              false",
        "'a\\*',             false"
    })
    void knowsWhatIsAPattern(String pattern, boolean expected) {
        assertThat(Glob.isValid(pattern)).isEqualTo(expected);
        assertThat(Glob.isValid("x".repeat(256))).isTrue();
        assertThat(Glob.isValid("x".repeat(257))).isFalse();
    }

    @Test
    @Timeout(5)
    void neverTakesLong() {
        Glob evil = new Glob("*a".repeat(128));

        for (int i = 0; i < 1_000; i++) {
            assertThat(evil.matches("a".repeat(127) + "b".repeat(129))).isFalse();
        }
    }
}
