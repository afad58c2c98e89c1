package io.sluice.testbed.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.sluice.testbed.chaos.Excess.Credit;
import java.util.List;
import org.junit.jupiter.api.Test;

/** 60,000 units of input a second, 300,000 at once; 30,000 more for what is half a second on its way. */
class ExcessTest {
    private static final long ALL_AT_ONCE = 330_000;

    @Test
    void aBurstAndWhatComesInAreAllowed() {
        Tale tale = new Tale().served(1_000, "p0/a0", ALL_AT_ONCE, 0);
        for (int second = 2; second < 20; second++) {
            tale.served(second * 1_000L, "p0/a0", 60_000, 0);
        }

        assertThat(excess(tale)).isEqualTo(new Excess(0, 0));
    }

    @Test
    void whatIsAboveThemIsBeyond() {
        Tale tale = new Tale().served(1_000, "p0/a0", ALL_AT_ONCE, 0).served(2_000, "p0/a0", 60_001, 0);

        assertThat(excess(tale).beyond()).isEqualTo(1);
    }

    /** Nobody asks over which interval: the excess lies between the second call and the last. */
    @Test
    void theWorstIntervalIsFound() {
        Tale tale = new Tale().served(0, "p0/a0", 100_000, 0);
        for (int i = 0; i < 10; i++) {
            tale.served(60_000 + i * 100, "p0/a0", 40_000, 0);
        }

        assertThat(excess(tale).beyond()).isCloseTo(400_000 - ALL_AT_ONCE - 54_000, within(1.0));
    }

    @Test
    void timeThatWasNotUsedIsNotSavedUp() {
        Tale tale = new Tale().served(0, "p0/a0", 1, 0).served(600_000, "p0/a0", ALL_AT_ONCE + 1, 0);

        assertThat(excess(tale).beyond()).isEqualTo(1);
    }

    @Test
    void aLoweredRateBringsInLess() {
        Tale tale = new Tale().served(1_000, "p0/a0", ALL_AT_ONCE, 0).served(2_000, "p0/a0", 60_000, 0);
        tale.terms.add(1_500, new Terms(50, false));

        assertThat(excess(tale).beyond()).isEqualTo(15_000);
    }

    @Test
    void aFaultAccountsForAsMuchAsItMay() {
        Tale tale = overBy40000();

        assertThat(excess(tale, new Credit(500, 1_500, 50_000))).isEqualTo(new Excess(40_000, 0));
        assertThat(excess(tale, new Credit(500, 1_500, 30_000))).isEqualTo(new Excess(40_000, 10_000));
        assertThat(excess(tale, new Credit(500, 600, 30_000), new Credit(1_500, 1_600, 5_000)))
                .isEqualTo(new Excess(40_000, 40_000));
    }

    /** What a fault let through early is what is missing later: an interval is excused if the fault lies anywhere in it. */
    @Test
    void aFaultCountsForEveryIntervalThatTouchesIt() {
        Tale tale = new Tale().served(1_000, "p0/a0", ALL_AT_ONCE, 0);
        for (int second = 2; second < 20; second++) {
            tale.served(second * 1_000L, "p0/a0", second == 15 ? 90_000 : 60_000, 0);
        }

        assertThat(excess(tale).beyond()).isEqualTo(30_000);
        assertThat(excess(tale, new Credit(5_000, 5_000, 30_000)).beyond()).isZero();
        assertThat(excess(tale, new Credit(25_000, 26_000, 30_000)).beyond()).isEqualTo(30_000);
    }

    private static Tale overBy40000() {
        return new Tale()
                .served(1_000, "p0/a0", ALL_AT_ONCE, 0)
                .served(1_000, "p0/a0", 20_000, 0)
                .served(1_000, "p0/a0", 20_000, 0);
    }

    @Test
    void outputCountsAsItTurnedOut() {
        Tale tale = new Tale().served(0, "p0/a0", 0, 49_501);

        assertThat(Excess.of(Limit.OTPM, tale.sent(), tale.terms, List.of()).beyond())
                .isEqualTo(1);
    }

    private static Excess excess(Tale tale, Credit... credits) {
        return Excess.of(Limit.ITPM, tale.sent(), tale.terms, List.of(credits));
    }
}
