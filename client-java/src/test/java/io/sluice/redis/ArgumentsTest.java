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
                List.of("day UTC 0", "month UTC 0"),
                List.of(
                        new ScopeLimits("p", 7, List.of()),
                        new ScopeLimits("a:", -1, 10_000, 100_000, 60_000_000, List.of(rpm))));

        List<String> arguments = Arguments.of(installation, "epoch");

        assertThat(arguments)
                .startsWith("", "epoch", "3", "2", "digest", "document", "note", "shadow", "500", "2")
                .containsSequence("500", "2", "2", "day UTC 0", "month UTC 0", "p", "7", "0", "0", "0", "0", "a:", "-1")
                .containsSequence("-1", "10000", "100000", "60000000", "1", "rpm", "540")
                .hasSize(11 + 2 + 6 + 6 + 13);
    }

    @Test
    void enforcesWhereThePolicyDoesNotOnlyWatch() {
        Installation installation =
                new Installation("acme", 0, "", "digest", "document", "note", false, 0, List.of(), List.of());

        assertThat(Arguments.of(installation, "epoch")).endsWith("enforce", "0", "0", "0");
    }
}
