package io.sluice.testbed.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sluice.testbed.chaos.Evidence.End;
import io.sluice.testbed.chaos.Evidence.Watched;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Each law broken once, in a log made by hand: the judge says which, and nothing else. */
class JudgeTest {
    private static final String SPENT_TWICE = "requests charged and not sent";
    private static final String NEVER_CHARGED = "requests served and not charged";

    @Test
    void aRunInWhichAllIsWellIsFoundSo() {
        Tale tale = steady().happened(killed(2_000, 0));
        tale.watched.add(new Watched(1_000, new Standing(16, 30, 8_000, 0, 0, Map.of())));
        balance(tale, 0, 0);

        assertThat(missed(tale, Leg.CABLE)).isEmpty();
        assertThat(new Judge(tale.evidence(Leg.CABLE)).findings()).hasSizeGreaterThan(15);
    }

    @Test
    void aCallThatWasServedAndNotChargedIsFound() {
        Tale tale = steady();
        balance(tale, -1, 0);

        assertThat(missed(tale, Leg.CABLE)).containsExactly(NEVER_CHARGED);
    }

    @Test
    void aCallThatWasChargedTwiceIsFound() {
        Tale tale = steady();
        balance(tale, 1, 4_100);

        assertThat(missed(tale, Leg.CABLE)).containsExactly(SPENT_TWICE, "tokens charged and not used");
    }

    @Test
    void tokensThatWereNotChargedAreFound() {
        Tale tale = steady();
        balance(tale, 0, -1);

        assertThat(missed(tale, Leg.SENTINEL)).containsExactly("tokens used and not charged");
    }

    /** Of a call that was cut off the provider has counted what it had produced, and Redis keeps the estimate. */
    @Test
    void whoWasKilledMayLeaveItsEstimateCharged() {
        Tale tale = steady().cutOff(5_000, "p0/a1", 1_000, 10);
        balance(tale, 0, 2_038);
        assertThat(missed(tale, Leg.CABLE)).isEmpty();

        balance(tale, 0, 2_039);
        assertThat(missed(tale, Leg.CABLE)).containsExactly("tokens charged and not used");
    }

    @Test
    void writesThatWereLostExcuseTheCallsOfTheirTimeAndNoMore() {
        Tale tale = steady().happened(Kind.CRASH, 5_000, 7_000, true);
        // 4,000 to 5,500 ms at 14 a second.
        balance(tale, -22, -22 * 4_100);
        assertThat(missed(tale, Leg.SENTINEL)).isEmpty();

        balance(tale, -23, -22 * 4_100);
        assertThat(missed(tale, Leg.SENTINEL)).containsExactly(NEVER_CHARGED);
    }

    /** A settle whose write was lost leaves the estimate charged, at its lease's end: 2,048 of output instead of 100. */
    @Test
    void aSettleThatWasLostLeavesItsEstimateCharged() {
        Tale tale = new Tale().served(4_500, "p0/a0", 4_000, 100).happened(Kind.CRASH, 5_000, 7_000, true);
        balance(tale, 0, 1_948);
        assertThat(missed(tale, Leg.SENTINEL)).isEmpty();

        balance(tale, 0, 1_949);
        assertThat(missed(tale, Leg.SENTINEL)).containsExactly("tokens charged and not used");
    }

    @Test
    void moreThanALimitAllowsIsFound() {
        assertThat(missed(steady().served(9_000, "p0/a0", 400_000, 0)))
                .containsExactly("itpm beyond its bound in any interval");
        assertThat(missed(steady().served(9_000, "p0/a0", 0, 60_000)))
                .containsExactly("otpm beyond its bound in any interval");
        Tale many = steady();
        for (int i = 0; i < 125; i++) {
            many.served(10_000, "p0/a0", 0, 0);
        }
        assertThat(missed(many)).containsExactly("rpm beyond its bound in any interval");
    }

    @Test
    void moreCallsInFlightThanSlotsAreFound() {
        assertThat(missed(steady().served(9_000, "p0/a0", 100, 0, 16))).isEmpty();
        assertThat(missed(steady().served(9_000, "p0/a0", 100, 0, 17)))
                .containsExactly("calls in flight above the slots there were");
        assertThat(missed(steady().served(9_000, "p0/a0", 100, 0, 28).happened(Kind.PARTITION, 8_000, 8_500, true)))
                .isEmpty();
    }

    /** On a busy machine Redis answers too late now and then, and the host starts that one call. */
    @Test
    void aCallThatAHostSentByItselfExcusesItsOwnSlotForALease() {
        Tale tale = steady().served(9_000, "p0/a0", 100, 0, 18);
        tale.aloneMs.add(5_999L);
        tale.aloneMs.add(6_000L);
        assertThat(missed(tale)).containsExactly("calls in flight above the slots there were");

        tale.aloneMs.add(9_400L);
        assertThat(missed(tale)).isEmpty();
    }

    @Test
    void aCallThatAHostSentByItselfExcusesItsOwnCost() {
        Tale tale = new Tale().steadily(0, 20_000, 10, 4_000).served(9_000, "p0/a0", 350_800, 0);
        tale.served(9_000, "p0/a0", 1, 0);
        assertThat(missed(tale)).containsExactly("itpm beyond its bound in any interval");

        tale.aloneMs.add(9_000L);
        tale.aloneMs.add(9_010L);
        assertThat(missed(tale)).isEmpty();
    }

    @Test
    void moreSlotsTakenThanThereAreAreFound() {
        Tale tale = steady();
        tale.watched.add(new Watched(5_000, new Standing(17, 30, 100, 0, 0, Map.of())));
        assertThat(missed(tale)).containsExactly("slots taken in Redis above those there were");

        assertThat(missed(tale.happened(Kind.PARTITION, 4_000, 4_500, true))).isEmpty();
    }

    @Test
    void aSlotThatAKilledHostKeepsIsFound() {
        assertThat(missed(steady().happened(killed(2_000, 1))))
                .containsExactly("slots of a killed host a lease and 1 s later");
    }

    @Test
    void aCallThatWaitsForEverIsFound() {
        Tale tale = steady();
        tale.watched.add(new Watched(5_000, new Standing(16, 30, 20_001, 0, 0, Map.of())));

        assertThat(missed(tale)).containsExactly("oldest call in line, s");
    }

    /** 0.8 of the burst and of what comes in: in 3 s of 300,000 and 180,000 units of input 384,000. */
    @Test
    void anOutageThatIsTakenForPermissionIsFound() {
        Tale tale = new Tale().steadily(0, 20_000, 10, 1_000).happened(Kind.PARTITION, 10_000, 13_000, true);
        assertThat(missed(tale)).isEmpty();

        tale.served(12_000, "p0/a0", 385_000, 0);
        assertThat(missed(tale)).containsExactly("s of refill used beyond the hosts' shares in an outage");
    }

    @Test
    void whatIsLeftAtTheEndIsFound() {
        assertThat(left(new End(Optional.of(new Standing(1, 0, 0, 0, 0, Map.of())), 0, End.NEVER, 8)))
                .containsExactly("slots left", "s until all was empty");
        assertThat(left(new End(Optional.of(Tale.NOTHING), 1, 0, 8))).containsExactly("slots left");
        assertThat(left(new End(Optional.of(new Standing(0, 2, 0, 0, 0, Map.of())), 0, End.NEVER, 8)))
                .containsExactly("calls left in line", "s until all was empty");
        assertThat(left(new End(Optional.of(Tale.NOTHING), 0, 4_001, 8))).containsExactly("s until all was empty");
        assertThat(left(new End(Optional.of(Tale.NOTHING), 0, 0, 12))).containsExactly("keys");
        assertThat(left(new End(Optional.empty(), 0, End.NEVER, 0)))
                .containsExactly("slots left", "calls left in line", "s until all was empty");
    }

    @Test
    void aFleetThatDoesNotRecoverIsFound() {
        Tale tale = new Tale()
                .steadily(0, 20_000, 14, 4_000)
                .steadily(26_200, 40_000, 14, 4_000)
                .happened(Kind.SCRIPTS, 20_000, 20_000, false);

        assertThat(missed(tale)).containsExactly("s to recover");
        assertThat(new Judge(tale.evidence()).recoveries())
                .singleElement()
                .satisfies(ms -> assertThat(ms).isCloseTo(6_100, within(100.0)));
    }

    @Test
    void aProcessThatEndsByItselfIsFound() {
        Tale tale = steady();
        tale.troubles.add("process p0 ended with exit code 1");

        assertThat(missed(tale)).containsExactly("processes that ended by themselves");

        tale.troubles.set(0, "process p0: OutageException: no Redis at redis://127.0.0.1:1");
        assertThat(missed(tale)).isEmpty();
    }

    @Test
    void useIsCountedOnceAllProcessesAreServed() {
        Tale tale =
                new Tale().served(0, "p0/a0", 500, 0).served(0, "p1/a0", 500, 0).served(0, "p2/a0", 500, 0);
        tale.served(2_300, "p3/a0", 40_000, 0).served(4_000, "p0/a0", 80_000, 0);
        Judge judge = new Judge(tale.evidence());

        assertThat(judge.used(Limit.ITPM)).isEqualTo(120_000);
        assertThat(judge.allowed(Limit.ITPM)).isEqualTo(300_000 + 2 * 60_000);
    }

    @Test
    void nothingWasAllowedWhereAProcessNeverWasServed() {
        Judge judge = new Judge(new Tale().steadily(0, 1, 1, 500).evidence());

        assertThat(judge.allowed(Limit.ITPM)).isZero();
    }

    private static Tale steady() {
        return new Tale().steadily(0, 20_000, 14, 4_000);
    }

    private static Happening killed(long atMs, int stillHeld) {
        return new Happening(new Incident(Kind.KILL, (int) atMs, 0, 0, 50), atMs, atMs, -1, "fleet-p0", stillHeld);
    }

    /** What Redis charged is what the provider saw, but for so much. */
    private static void balance(Tale tale, int requests, long tokens) {
        List<Sent> sent = tale.sent();
        long used = sent.stream()
                .mapToLong(call -> call.last().input() + call.last().output())
                .sum();
        tale.end =
                new End(Optional.of(new Standing(0, 0, 0, sent.size() + requests, used + tokens, Map.of())), 0, 100, 8);
    }

    private static List<String> left(End end) {
        Tale tale = steady();
        tale.end = end;
        return missed(tale);
    }

    private static List<String> missed(Tale tale) {
        return missed(tale, Leg.EMPTIED);
    }

    private static List<String> missed(Tale tale, Leg leg) {
        return new Judge(tale.evidence(leg))
                .findings().stream()
                        .filter(finding -> !finding.met())
                        .map(Finding::what)
                        .toList();
    }
}
