package io.sluice.server.project;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.server.project.Plan.Limit;
import io.sluice.server.project.Plan.Use;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The advice, row by row: limit ÷ late-session use per agent, rounded down, of the limit that carries fewest. */
class PlanTest {

    @ParameterizedTest
    @CsvSource({
        // limit, amount, requests, input, output, in flight, at 70 %, at 80 %
        "itpm, 2000000, 4, 20000, 900, 1, 70, 80",
        "itpm, 2000000, 4, 30000, 900, 1, 46, 53",
        "rpm, 50, 4, 20000, 900, 1, 8, 10",
        "otpm, 8000, 1, 1, 1000, 0, 5, 6",
        "tpm, 100000, 1, 900, 100, 0, 70, 80",
        "concurrency, 10, 1, 1, 1, 1, 7, 8",
        "concurrency, 10, 1, 1, 1, 0.5, 14, 16",
        "rpd, 1440, 1, 1, 1, 1, 0, 0",
        "rpd, 14400, 1, 1, 1, 1, 7, 8",
        "agents, 10, 1, 1, 1, 1, 7, 8",
        // what binary fractions would round down to 6 and 2
        "rpm, 10, 1, 0, 0, 0, 7, 8",
        "rpm, 3, 0.7, 0, 0, 0, 3, 3",
        // closed: it carries nobody
        "rpm, 0, 1, 0, 0, 0, 0, 0",
    })
    void oneLimit(
            String limit,
            double amount,
            double requests,
            double input,
            double output,
            double inFlight,
            long at70,
            long at80) {
        Plan.Advice advice = Plan.of(List.of(new Limit("p", limit, amount)), new Use(requests, input, output, inFlight))
                .orElseThrow();
        assertThat(advice.agentsAt70()).isEqualTo(at70);
        assertThat(advice.agentsAt80()).isEqualTo(at80);
    }

    @Test
    void theOneThatCarriesFewestBindsAndAllAreTold() {
        List<Limit> limits = List.of(
                new Limit("p", "concurrency", 200),
                new Limit("c:sonnet", "itpm", 2_000_000),
                new Limit("c:sonnet", "rpm", 4_000),
                new Limit("c:sonnet", "custom", 1));
        Plan.Advice advice = Plan.of(limits, new Use(4, 20_000, 0, 1.5)).orElseThrow();
        assertThat(advice.binding()).isEqualTo(limits.get(1));
        assertThat(advice.all().stream().map(entry -> entry.getKey().name() + " " + entry.getValue()))
                .containsExactly("itpm 80", "concurrency 106", "rpm 800");
    }

    @Test
    void nothingIsAdvisedWhereNothingIsUsedOrCounted() {
        assertThat(Plan.of(List.of(new Limit("p", "rpm", 10)), new Use(0, 5, 5, 5)))
                .isEmpty();
        assertThat(Plan.of(List.of(), new Use(1, 1, 1, 1))).isEmpty();
    }
}
