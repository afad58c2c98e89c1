package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ScriptTest {

    private static String expand(String script, String... parts) {
        Map<String, String> files = new java.util.HashMap<>(Map.of("it", script));
        for (int i = 0; i < parts.length; i += 2) {
            files.put(parts[i], parts[i + 1]);
        }
        return Script.expand("it", name -> Objects.requireNonNull(files.get(name), name));
    }

    @Test
    void aPartStandsWhereItIsIncluded() {
        String text = expand("#!lua\na()\n--#include lib/b\nc()\n", "lib/b", "b()\n");
        assertThat(text.lines().filter(line -> !line.isBlank())).containsExactly("#!lua", "a()", "b()", "c()");
    }

    @Test
    void severalPartsKeepTheirOrder() {
        String text = expand("#!lua\n--#include lib/b\n--#include lib/a\n", "lib/a", "a()", "lib/b", "b()");
        assertThat(text.lines().filter(line -> !line.isBlank())).containsExactly("#!lua", "b()", "a()");
    }

    /** A replacement has signs of its own. */
    @Test
    void aPartIsTakenAsItIs() {
        String part = "local s = '$1 \\\\ ${x} \\n'";
        assertThat(expand("#!lua\n--#include lib/b\n", "lib/b", part)).contains(part);
    }

    @Test
    void onlyALineOfItsOwnIsAnInclude() {
        String script = "#!lua\nx() --#include lib/b\n --#include lib/b\n-- #include lib/b\n--#include lib/b twice\n";
        assertThat(expand(script)).isEqualTo(script);
    }

    /** On a cluster node a script without it may write undeclared keys of another slot. */
    @Test
    void theFirstLineOfAScriptSaysLua() {
        assertThatThrownBy(() -> expand("\n#!lua\n"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("it: the first line");
    }

    @Test
    void aPartIsIncludedOnce() {
        assertThatThrownBy(() -> expand("#!lua\n--#include lib/b\n--#include lib/b\n", "lib/b", ""))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("it includes lib/b twice");
    }

    @Test
    void aPartIncludesNothing() {
        assertThatThrownBy(() -> expand("#!lua\n--#include lib/b\n", "lib/b", "--#include lib/c\n"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("it: lib/b must not include anything itself");
    }

    @ParameterizedTest
    @EnumSource(Script.class)
    void everyScriptIsWholeAndHasItsName(Script script) {
        assertThat(script.text()).startsWith("#!lua").doesNotContain("--#include");
        assertThat(script.sha()).matches("[0-9a-f]{40}");
        assertThat(script.label()).matches("[a-z]+");
    }

    /** Ending a permit, pausing a scope and asking whether it takes writes must work when Redis has no memory left; taking a permit must not. */
    @ParameterizedTest
    @EnumSource(Script.class)
    void onlyWhatGivesOrHoldsBackMayRunWithoutMemory(Script script) {
        boolean givesBack = Set.of(Script.SETTLE, Script.BEAT, Script.OBSERVE, Script.REMOVE, Script.INDEX)
                .contains(script);
        String firstLine = script.text().lines().findFirst().orElseThrow();
        assertThat(firstLine.contains("allow-oom")).isEqualTo(givesBack);
        boolean reads = Set.of(Script.INSPECT, Script.RIGHTS, Script.STATUS, Script.TOLD)
                .contains(script);
        assertThat(firstLine.contains("no-writes")).isEqualTo(reads);
    }
}
