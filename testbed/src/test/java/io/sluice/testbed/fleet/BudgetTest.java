package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sluice.Provider;
import io.sluice.testbed.fleet.Budget.Interval;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Numbers worked out by hand. */
class BudgetTest {
    private static final PolicyNumbers NUMBERS = new PolicyNumbers(
            0.9, 5, Provider.ANTHROPIC, Map.of("rpm", 600L, "itpm", 60_000L, "otpm", 6_000L, "concurrency", 4L));
    private static final Interval THIRTY_SECONDS = new Interval(0, 30_000);

    private long seq;

    @Test
    void aRateAllowsItsBurstAndWhatRefills() {
        // 600 a minute at 0.9 is 9 a second: 45 at once, 270 in 30 s.
        assertThat(Budget.allowed("rpm", NUMBERS, THIRTY_SECONDS)).isEqualTo(315);
        assertThat(Budget.allowed("itpm", NUMBERS, THIRTY_SECONDS)).isEqualTo(31_500);
    }

    @Test
    void slotsAllowTheirNumberAllTheTime() {
        assertThat(Budget.allowed("concurrency", NUMBERS, THIRTY_SECONDS)).isEqualTo(120);
    }

    @Test
    void isJudgedFromTheFirstSecondInWhichEveryProcessWasGranted() {
        List<LogEntry> log = List.of(
                accepted(1_000, "1", "p0/a0", 0), accepted(3_700, "2", "p1/a0", 0), accepted(3_800, "3", "p1/a1", 0));

        // Seconds are counted from the first acceptance: p1's falls in the third second, 3,000 to 4,000.
        assertThat(Budget.interval(log, 2, 20_000)).isEqualTo(new Interval(3_000, 20_000));
    }

    @Test
    void isNotJudgedIfAProcessWasNeverGranted() {
        assertThat(Budget.interval(List.of(accepted(1_000, "1", "p0/a0", 0)), 2, 20_000))
                .isNull();
    }

    @Test
    void countsRequestsAndInputWhenAccepted() {
        List<LogEntry> log = List.of(
                accepted(900, "1", "p0/a0", 100),
                accepted(1_000, "2", "p0/a1", 200),
                new LogEntry(9, 1_500, "rejected", "3", "p0/a2", "input", 999, 0, 0, 999, 0, 0),
                accepted(2_000, "4", "p0/a3", 400),
                accepted(2_001, "5", "p0/a4", 800));
        Interval interval = new Interval(1_000, 2_000);

        assertThat(Budget.used("rpm", NUMBERS, log, interval)).isEqualTo(2);
        assertThat(Budget.used("itpm", NUMBERS, log, interval)).isEqualTo(600);
    }

    @Test
    void countsCacheReadsOnlyWhereTheProviderDoes() {
        List<LogEntry> log = List.of(new LogEntry(1, 500, "accepted", "1", "p0/a0", null, 100, 7_000, 30, 7_130, 0, 1));
        PolicyNumbers all = new PolicyNumbers(0.9, 5, Provider.GENERIC, NUMBERS.amounts());

        assertThat(Budget.used("itpm", NUMBERS, log, THIRTY_SECONDS)).isEqualTo(130);
        assertThat(Budget.used("itpm", all, log, THIRTY_SECONDS)).isEqualTo(7_130);
    }

    @Test
    void countsOutputAndSlotsByTheirPartOfTheInterval() {
        List<LogEntry> log = List.of(
                accepted(0, "1", "p0/a0", 1),
                accepted(9_000, "2", "p0/a1", 1),
                ended(2_000, "finished", "1", 100),
                ended(11_000, "aborted", "2", 80));
        Interval interval = new Interval(1_000, 10_000);

        // Half of the first call's 2 s and of the second's lie within: 50 + 40 tokens, 1 + 1 slot-seconds.
        assertThat(Budget.used("otpm", NUMBERS, log, interval)).isEqualTo(90);
        assertThat(Budget.used("concurrency", NUMBERS, log, interval)).isCloseTo(2, within(1e-9));
    }

    /** OpenAI charges a call when it begins, cap included; others charge what is produced, as it is. */
    @Test
    void countsTokensAsTheProviderDoes() {
        List<LogEntry> log = List.of(
                accepted(0, "1", "p0/a0", 5),
                accepted(1_000, "2", "p0/a1", 30),
                ended(2_000, "finished", "1", 100),
                ended(2_000, "finished", "2", 8));
        Interval interval = new Interval(1_000, 10_000);
        Map<String, Long> tpm = Map.of("tpm", 6_000L);

        assertThat(Budget.used("tpm", new PolicyNumbers(0.9, 5, Provider.OPENAI, tpm), log, interval))
                .isEqualTo(300);
        assertThat(Budget.used("tpm", new PolicyNumbers(0.9, 5, Provider.GENERIC, tpm), log, interval))
                .isEqualTo(300 + 50 + 8);
    }

    @Test
    void aCallStillRunningHoldsItsSlotToTheEnd() {
        List<LogEntry> log = List.of(accepted(4_000, "1", "p0/a0", 1));

        assertThat(Budget.used("concurrency", NUMBERS, log, new Interval(0, 10_000)))
                .isEqualTo(6);
    }

    @Test
    void anAnswerWithoutLengthCountsWhereItStands() {
        List<LogEntry> log = List.of(accepted(4_000, "1", "p0/a0", 1), ended(4_000, "finished", "1", 7));

        assertThat(Budget.used("otpm", NUMBERS, log, new Interval(4_000, 5_000)))
                .isEqualTo(7);
        assertThat(Budget.used("otpm", NUMBERS, log, new Interval(4_001, 5_000)))
                .isZero();
    }

    private LogEntry accepted(long tMs, String id, String agent, long input) {
        return new LogEntry(++seq, tMs, "accepted", id, agent, null, input, 0, 0, 10 * input, 0, 1);
    }

    private LogEntry ended(long tMs, String event, String id, long output) {
        return new LogEntry(++seq, tMs, event, id, "p0/a0", null, 1, 0, 0, 1, output, 0);
    }
}
