package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ScriptTest {

    @Test
    void putsAnIncludeWhereItStands() {
        assertThat(expand("#!lua\none\n--#include lib/a\ntwo", Map.of("lib/a", "-- $1 \\ a")))
                .isEqualTo("#!lua\none\n-- $1 \\ a\ntwo");
    }

    @Test
    void takesOnlyAWholeLineForAnInclude() {
        String text = "#!lua\n  --#include lib/a\nx --#include lib/a\n--#include lib/a b";

        assertThat(expand(text, Map.of())).isEqualTo(text);
    }

    @Test
    void refusesAScriptWithoutItsFirstLine() {
        assertThatThrownBy(() -> expand("-- text\n#!lua\n", Map.of()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("main");
    }

    @Test
    void refusesAPartTwice() {
        assertThatThrownBy(() -> expand("#!lua\n--#include lib/a\n--#include lib/a\n", Map.of("lib/a", "")))
                .hasMessageContainingAll("main", "lib/a", "twice");
    }

    @Test
    void refusesAPartThatIncludes() {
        assertThatThrownBy(() -> expand("#!lua\n--#include lib/a\n", Map.of("lib/a", "--#include lib/b")))
                .hasMessageContainingAll("main", "lib/a", "must not include");
    }

    /** The name Redis gives a script is the SHA-1 of its text: a differing one would be sent in full each time. */
    @ParameterizedTest
    @EnumSource
    void everyScriptIsWhole(Script script) {
        assertThat(script.text()).startsWith("#!lua").doesNotContain("--#include");
        assertThat(script.sha()).matches("[0-9a-f]{40}");
    }

    private static String expand(String text, Map<String, String> parts) {
        return Script.expand(
                "main", name -> name.equals("main") ? text : Objects.requireNonNull(parts.get(name), name));
    }
}
