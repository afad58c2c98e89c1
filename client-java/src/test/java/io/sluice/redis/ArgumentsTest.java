package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.Store.Installation;
import java.util.List;
import org.junit.jupiter.api.Test;

class ArgumentsTest {

    /** In the order of policy.lua's head. */
    @Test
    void tellsTheScriptThePolicysModeItsQueueAndEachScope() {
        RefillLimit rpm = Scripted.perMinute("rpm", 60, 9, 5);
        Installation installation = new Installation(
                "acme",
                3,
                "2",
                "digest",
                "document",
                "note",
                true,
                500,
                List.of(new ScopeLimits("p", 7, List.of()), new ScopeLimits("a:", -1, 10_000, List.of(rpm))));

        List<String> arguments = Arguments.of(installation, "epoch");

        assertThat(arguments)
                .startsWith("", "epoch", "3", "2", "digest", "document", "note", "shadow", "500", "2")
                .containsSubsequence("p", "7", "0", "0", "a:", "-1", "10000", "1", "rpm", "54")
                .hasSize(10 + 4 + 4 + 10);
    }

    @Test
    void enforcesWhereThePolicyDoesNotOnlyWatch() {
        Installation installation = new Installation("acme", 0, "", "digest", "document", "note", false, 0, List.of());

        assertThat(Arguments.of(installation, "epoch")).endsWith("enforce", "0", "0");
    }
}
