package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ScriptTest {

    private static String expand(Map<String, String> files) {
        return Script.expand("main", name -> {
            if (!files.containsKey(name)) {
                throw new IllegalStateException("no " + name);
            }
            return files.get(name);
        });
    }

    @Test
    void anIncludeIsReplacedWhereItStands() {
        assertThat(expand(Map.of("main", "#!lua\na()\n--#include lib/x\nb()\n", "lib/x", "x('$1')\n")))
                .isEqualTo("#!lua\na()\nx('$1')\n\nb()\n");
    }

    @Test
    void aMissingPartATwicePartANestedPartAndAMissingShebangAreErrors() {
        assertThatThrownBy(() -> expand(Map.of("main", "#!lua\n--#include lib/y\n")))
                .hasMessageContaining("lib/y");
        assertThatThrownBy(() -> expand(Map.of("main", "#!lua\n--#include lib/x\n--#include lib/x\n", "lib/x", "x()")))
                .hasMessageContaining("twice");
        assertThatThrownBy(() ->
                        expand(Map.of("main", "#!lua\n--#include lib/x\n", "lib/x", "--#include lib/z\n", "lib/z", "")))
                .hasMessageContaining("must not include");
        assertThatThrownBy(() -> expand(Map.of("main", "a()\n"))).hasMessageContaining("#!lua");
    }

    @ParameterizedTest
    @EnumSource
    void everyScriptIsCompleteAndNamedByItsHash(Script script) {
        assertThat(script.text()).startsWith("#!lua").doesNotContain("--#include");
        assertThat(script.sha()).matches("[0-9a-f]{40}");
    }
}
