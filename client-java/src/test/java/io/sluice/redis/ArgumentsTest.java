package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.RefillLimit;
import io.sluice.ScopeLimits;
import io.sluice.Store.Installation;
import io.sluice.Store.Observation;
import io.sluice.Store.Observation.Outputs;
import io.sluice.Store.Observations;
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

    /** In the order of observe.lua's head and of lib/learn.lua's. */
    @Test
    void tellsTheScriptEachObservationInItsOwnWay() {
        Observations told = new Observations(
                "acme",
                "host",
                List.of(
                        new Observation.Hold("p", Observation.NOT_STATED, 60, "input", true, 7, "a note"),
                        new Observation.Release("*"),
                        new Observation.Slow("c:m", 1, 2, 3, 9),
                        new Observation.Less("c:m", "rpm", 7),
                        new Observation.Left("c:m", "itpm", 1, 2, 3, 4, 5, 6, 8),
                        new Observation.Learn(
                                "m", "-", 1, 2, 3, 4, List.of(new Outputs(500, 9), new Outputs(800, 1)))));

        assertThat(String.join(" ", Arguments.of(told)))
                .isEqualTo(" host 6 hold p -2 60 input 1 7 a note release * slow c:m 1 2 3 9 less c:m rpm 7"
                        + " left c:m itpm 1 2 3 4 5 6 8 learn m - 1 2 3 4 2 500 9 800 1");
    }
}
