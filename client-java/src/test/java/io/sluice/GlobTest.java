package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

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
