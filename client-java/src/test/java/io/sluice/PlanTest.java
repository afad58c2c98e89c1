package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.sluice.Admin.Used;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlanTest {
    private static final Instant EIGHT = Instant.parse("2026-11-30T08:00:00Z");
    private static final Instant NINE = Instant.parse("2026-11-30T09:00:00Z");

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
        Plan plan = Plan.of(List.of(limit("p", limit, amount)), null, new Plan.Use(requests, input, output, inFlight))
                .orElseThrow();
        assertThat(plan.agentsAt70()).isEqualTo(at70);
        assertThat(plan.agentsAt80()).isEqualTo(at80);
    }

    @Test
    void theLimitThatCarriesFewestBindsAndAgentsAreRoundedDown() {
        Plan plan = Plan.of(
                        List.of(
                                limit("p", "concurrency", 200),
                                limit("c:sonnet", "rpm", 4_000),
                                limit("c:sonnet", "itpm", 2_000_000),
                                limit("c:haiku", "itpm", 50_000)),
                        "sonnet",
                        new Plan.Use(4, 21_000, 900, 0.4))
                .orElseThrow();

        // 1,400,000 / 21,000 = 66.7 and 1,600,000 / 21,000 = 76.2.
        assertThat(plan.agentsAt70()).isEqualTo(66);
        assertThat(plan.agentsAt80()).isEqualTo(76);
        assertThat(plan.binding().limit()).isEqualTo("itpm");
        assertThat(plan.binding().scope()).isEqualTo("c:sonnet");
        assertThat(plan.limits())
                .extracting(Plan.Carried::limit, Plan.Carried::agentsAt80)
                .containsExactly(tuple("itpm", 76L), tuple("concurrency", 400L), tuple("rpm", 800L));
    }

    @Test
    void withoutAClassTheLimitsOfAllOfThemCountAndThoseOfTeamsNever() {
        List<Status.Limit> limits =
                List.of(limit("c:sonnet", "rpm", 100), limit("c:haiku", "rpm", 50), limit("t:research", "rpm", 1));

        Plan plan = Plan.of(limits, null, new Plan.Use(1, 0, 0, 0)).orElseThrow();

        assertThat(plan.binding().scope()).isEqualTo("c:haiku");
        assertThat(plan.agentsAt80()).isEqualTo(40);
        assertThat(plan.limits()).hasSize(2);
    }

    @Test
    void whatNoLimitCountsHasNoPlan() {
        assertThat(Plan.of(List.of(limit("c:sonnet", "otpm", 100)), "sonnet", new Plan.Use(1, 5, 0, 0)))
                .isEmpty();
        assertThat(Plan.of(List.of(limit("p", "rpm", 10)), null, new Plan.Use(0, 5, 5, 5)))
                .isEmpty();
        assertThat(Plan.of(List.of(), null, new Plan.Use(1, 1, 1, 1))).isEmpty();
        assertThat(Plan.of(List.of(limit("p", "gpu_seconds", 100)), null, new Plan.Use(1, 5, 7, 1)))
                .isEmpty();
    }

    /** Sessions grow: an agent's busiest hour is the late one. */
    @Test
    void theBusiestHourOfEachAgentStandsForItsLateSession() {
        List<Used> rows = List.of(
                used(EIGHT, "a", 60, 60, 600_000, 6_000_000, 60_000), used(NINE, "a", 30, 60, 900_000, 0, 90_000));

        Plan.Use use = Plan.Use.observed(rows, false).orElseThrow();
        Plan.Use cached = Plan.Use.observed(rows, true).orElseThrow();

        // By all tokens a minute the first hour is the busiest: (600,000 + 6,000,000 + 60,000) / 60.
        assertThat(use.input()).isEqualTo(10_000);
        assertThat(cached.input()).isEqualTo(110_000);
        assertThat(use.requests()).isEqualTo(1);
        assertThat(use.output()).isEqualTo(1_000);
    }

    /**
     * A budget of 2,000,000 input tokens a minute and agents that use 20,000 a minute carries 70 and 80 of them, for however long they
     * have been there.
     */
    @ParameterizedTest(name = "there for {0} s of the hour: {1} requests, {2} tokens")
    @CsvSource({
        // seconds, requests, input, at 70 %, at 80 %
        "3600, 60, 1200000, 70, 80", // 20,000 a minute
        "600, 10, 200000, 70, 80", // begun ten minutes ago
        "150, 5, 50000, 70, 80", // 2 min 30 s
        "60, 1, 20000, 70, 80",
        "7, 1, 20000, 70, 80", // its first call: no less than a minute
        "0, 1, 20000, 70, 80",
        "600, 10, 210000, 66, 76", // 21,000 a minute: 66.7 and 76.2
        "90, 3, 45000, 46, 53", // 30,000 a minute: 46.7 and 53.3
    })
    void whatAnAgentUsesIsByTheMinutesItWasThere(int seconds, long requests, long input, long at70, long at80) {
        Used row = new Used(NINE, "a", requests, input, 0, 0, 0, 0, 0, 0, Duration.ofSeconds(seconds));
        Plan.Use use = Plan.Use.observed(List.of(row), false).orElseThrow();
        Plan plan = Plan.of(
                        List.of(limit("c:sonnet", "itpm", 2_000_000), limit("c:sonnet", "rpm", 4_000)), "sonnet", use)
                .orElseThrow();
        assertThat(plan.binding().limit()).isEqualTo("itpm");
        assertThat(plan.agentsAt70()).isEqualTo(at70);
        assertThat(plan.agentsAt80()).isEqualTo(at80);
    }

    @Test
    void whoWasIdleCountsForNothingNorDoWhoNamedNoAgent() {
        List<Used> rows = List.of(
                used(EIGHT, "a", 60, 60, 600_000, 60_000, 6_000),
                used(NINE, "a", 30, 10, 3_000, 0, 30),
                used(NINE, "b", 30, 30, 30_000, 3_000, 3_000),
                used(NINE, "idle", 0, 0, 0, 0, 0),
                used(NINE, Policy.NO_NAME, 60, 6_000, 9_000_000, 0, 9_000_000));

        Plan.Use use = Plan.Use.observed(rows, false).orElseThrow();

        assertThat(use).isEqualTo(new Plan.Use(1, 10_000, 100, 0));
        assertThat(Plan.Use.observed(rows, true).orElseThrow().input()).isEqualTo(11_000);
    }

    @Test
    void ofManyAgentsTheUseThatOnlyATenthExceedStandsForTheFleet() {
        Stream<Used> ordinary =
                IntStream.rangeClosed(1, 9).mapToObj(n -> used(EIGHT, "agent-" + n, 60, 60, n * 6_000L, 0, 0));
        Stream<Used> huge = Stream.of(used(EIGHT, "huge", 60, 6_000, 60_000_000, 0, 0));

        Plan.Use use =
                Plan.Use.observed(Stream.concat(ordinary, huge).toList(), false).orElseThrow();

        assertThat(use.input()).isEqualTo(900);
        assertThat(use.requests()).isEqualTo(1);
    }

    @Test
    void whoSentNothingWasNotSeen() {
        assertThat(Plan.Use.observed(List.of(used(EIGHT, "a", 0, 0, 0, 0, 0)), false))
                .isEmpty();
    }

    private static Status.Limit limit(String scope, String name, double amount) {
        return new Status.Limit(scope, name, amount, amount, amount, 0, 0);
    }

    private static Used used(
            Instant at, String name, int minutes, long requests, long input, long cacheRead, long output) {
        return new Used(at, name, requests, input, cacheRead, 0, output, 0, 0, 0, Duration.ofMinutes(minutes));
    }
}
