package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sluice.Priority;
import io.sluice.Provider;
import io.sluice.testbed.fleet.Budget.Interval;
import io.sluice.testbed.fleet.FleetEvent.Outcome;
import io.sluice.testbed.fleet.FleetReport.LimitUse;
import io.sluice.testbed.fleet.FleetReport.Waits;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Numbers worked out by hand. */
class SharesTest {
    /** 60 requests and 6,000 tokens a minute; a burst of 5 s. */
    private static final PolicyNumbers NUMBERS =
            new PolicyNumbers(0.9, 5, Provider.ANTHROPIC, Map.of("rpm", 60L, "itpm", 6_000L));

    private static final PolicyFlows POLICY =
            new PolicyFlows("sonnet", Map.of("core", 2, "lab", 1), Map.of("interactive", 16, "normal", 4, "batch", 1));
    private static final Interval JUDGED = new Interval(1_000, 11_000);
    private static final LimitUse BINDING = new LimitUse("itpm", 6_000, 1_000, 900);

    private final List<FleetEvent.Call> calls = new ArrayList<>();

    @Test
    void aCallCountsAsItsLargestPartOfAMinute() {
        // 1 of 60 requests is more than 60 of 6,000 tokens; 300 tokens are more than 1 request.
        granted("core", Priority.NORMAL, 0, 2_000, 60);
        granted("lab", Priority.NORMAL, 0, 3_000, 300);

        Map<String, Part> teams = shares().by(call -> String.valueOf(call.team()));

        assertThat(teams.get("core").sharePercent()).isCloseTo(25, within(1e-9));
        assertThat(teams.get("lab").sharePercent()).isCloseTo(75, within(1e-9));
    }

    @Test
    void useIsOfTheLimitThatBinds() {
        granted("core", Priority.NORMAL, 0, 2_000, 60);
        granted("core", Priority.NORMAL, 0, 3_000, 300);

        Part core = shares().by(call -> String.valueOf(call.team())).get("core");

        assertThat(core.usePercent()).isCloseTo(36, within(1e-9));
        assertThat(core.charge()).isEqualTo(new Charge(2, 360, 0, 0, 0));
        assertThat(core.granted()).isEqualTo(2);
    }

    @Test
    void slotsAreUsedFromTheGrantToTheEndWithinTheJudgedTime() {
        Shares shares = new Shares(
                List.of(
                        call("core", Priority.NORMAL, Outcome.COMPLETED, true, 0, 500, 1_500, 1),
                        call("core", Priority.NORMAL, Outcome.COMPLETED, true, 0, 10_000, 8_000, 1)),
                JUDGED,
                NUMBERS,
                POLICY,
                new LimitUse("concurrency", 1, 10, 9));

        // 1 s of the first's, 1 s of the second's.
        assertThat(shares.by(call -> "all").get("all").usePercent()).isCloseTo(20, within(1e-9));
    }

    @Test
    void waitsAreThoseOfTheWholeRunAndChargesThoseOfTheJudgedTime() {
        granted("core", Priority.BATCH, 0, 200, 100);
        granted("core", Priority.BATCH, 0, 4_000, 100);
        calls.add(call("core", Priority.BATCH, Outcome.GIVEN_UP, false, 1_000, 6_000, 0, 0));
        calls.add(call("core", Priority.BATCH, Outcome.CUT_OFF, false, 1_000, 10_000, 0, 0));

        Part batch = shares().by(call -> call.priority().label()).get("batch");

        assertThat(batch.waits()).isEqualTo(new Waits(3, 4_000, 6_000, 6_000));
        assertThat(batch.granted()).isEqualTo(1);
        assertThat(batch.charge().input()).isEqualTo(100);
    }

    @Test
    void jainIsTakenOverChargedShareByWeightOfFlowsThatAlwaysWait() {
        // From 6 s on, when the burst of the start is spent. Weights 8, 4 and 1.
        alwaysWaiting("core", Priority.NORMAL, 1_600);
        alwaysWaiting("lab", Priority.NORMAL, 400);
        alwaysWaiting("lab", Priority.BATCH, 200);
        granted("core", Priority.INTERACTIVE, 6_000, 10, 5_000);

        List<Flow> flows = shares().flows();
        FlowFairness fairness = shares().fairness(flows);

        assertThat(flows).extracting(Flow::name).startsWith("core interactive", "core normal");
        assertThat(flows).extracting(Flow::weight).containsExactly(32, 8, 4, 1);
        // 200, 100, 200 tokens by weight: 500² / (3 x 90,000).
        assertThat(fairness.jain()).isCloseTo(250_000 / 270_000.0, within(1e-9));
        assertThat(fairness.flows()).containsExactly("core normal", "lab normal", "lab batch");
        assertThat(fairness.leftOut()).containsExactly("core interactive");
        assertThat(fairness.leastGranted()).isEqualTo(1);
        assertThat(fairness.seconds()).isEqualTo(5);
    }

    @Test
    void whatIsGrantedFromTheBurstOfTheStartIsNotCompared() {
        alwaysWaiting("lab", Priority.NORMAL, 400);
        alwaysWaiting("core", Priority.NORMAL, 800);
        granted("lab", Priority.NORMAL, 0, 2_000, 5_000);

        assertThat(shares().fairness(shares().flows()).jain()).isCloseTo(1, within(1e-9));
    }

    @Test
    void oneFlowAloneIsNeitherFairNorUnfair() {
        alwaysWaiting("lab", Priority.BATCH, 100);

        assertThat(shares().fairness(shares().flows()).jain()).isNull();
    }

    @Test
    void waitsThatOverlapCountOnceAndGapsDoNot() {
        // Of 6 to 11 s: 6 to 8.5, then 9 to 11.
        calls.add(call("lab", Priority.BATCH, Outcome.COMPLETED, true, 0, 8_000, 0, 1));
        calls.add(call("lab", Priority.BATCH, Outcome.COMPLETED, true, 7_000, 1_500, 0, 1));
        calls.add(call("lab", Priority.BATCH, Outcome.COMPLETED, true, 7_500, 100, 0, 1));
        calls.add(call("lab", Priority.BATCH, Outcome.CUT_OFF, false, 9_000, 9_000, 0, 0));

        Flow flow = shares().flows().get(0);

        assertThat(flow.backloggedPercent()).isCloseTo(90, within(1e-9));
        assertThat(flow.alwaysBacklogged()).isFalse();
    }

    @Test
    void teamsThePolicyDoesNotListAreOneFlow() {
        granted("core", Priority.BATCH, 0, 2_000, 1);
        granted("guests", Priority.BATCH, 0, 2_000, 1);
        granted(null, Priority.BATCH, 0, 2_000, 1);

        assertThat(shares().flows()).extracting(Flow::name).containsExactly("core batch", "other batch");
        assertThat(shares().flows().get(1).part().granted()).isEqualTo(2);
    }

    @Test
    void whereNoRateIsLimitedEachCallCountsTheSame() {
        Shares shares = new Shares(
                List.of(
                        call("core", Priority.BATCH, Outcome.COMPLETED, true, 0, 2_000, 9, 1),
                        call("lab", Priority.BATCH, Outcome.COMPLETED, true, 0, 2_000, 9, 999)),
                JUDGED,
                new PolicyNumbers(0.9, 5, Provider.ANTHROPIC, Map.of("concurrency", 4L)),
                POLICY,
                null);

        assertThat(shares.by(call -> String.valueOf(call.team())).get("lab").sharePercent())
                .isEqualTo(50);
    }

    @Test
    void starvationIsToldOfCallsThatStillWaitToo() {
        granted("core", Priority.BATCH, 0, 3_000, 1);
        granted("core", Priority.BATCH, 0, 3_001, 1);
        calls.add(call("lab", Priority.NORMAL, Outcome.CUT_OFF, false, 1_000, 9_000, 0, 0));

        assertThat(Starvation.of(calls, 3_000)).isEqualTo(new Starvation(3_000, 2, 9_000, "p0/a0", "lab", "normal"));
        assertThat(Starvation.of(List.of(), 3_000)).isEqualTo(new Starvation(3_000, 0, 0, null, null, null));
    }

    private Shares shares() {
        return new Shares(calls, JUDGED, NUMBERS, POLICY, BINDING);
    }

    /** Waits all the time, and is granted once. */
    private void alwaysWaiting(String team, Priority priority, long input) {
        granted(team, priority, 0, 8_000, input);
        calls.add(call(team, priority, Outcome.CUT_OFF, false, 7_000, 4_000, 0, 0));
    }

    private void granted(@Nullable String team, Priority priority, long startedMs, long waitedMs, long input) {
        calls.add(call(team, priority, Outcome.COMPLETED, true, startedMs, waitedMs, 10, input));
    }

    private static FleetEvent.Call call(
            @Nullable String team,
            Priority priority,
            Outcome outcome,
            boolean granted,
            long startedMs,
            long waitedMs,
            long heldMs,
            long input) {
        Charge charge = granted ? new Charge(1, input, 0, 0, 0) : Charge.NOTHING;
        return new FleetEvent.Call(
                "p0/a0", team, priority, null, "any", outcome, granted, startedMs, waitedMs, heldMs, 0, charge, null);
    }
}
