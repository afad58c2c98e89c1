package io.sluice.testbed.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** 60,000 units of input a second at first. */
class TimelineTest {
    private final Timeline terms = new Timeline(Terms.FULL);

    @Test
    void whatComesInFollowsTheTerms() {
        terms.add(2_000, new Terms(60, false));
        terms.add(4_000, Terms.FULL);

        assertThat(terms.refilled(Limit.ITPM, 0, 2_000)).isEqualTo(120_000);
        assertThat(terms.refilled(Limit.ITPM, 1_000, 5_000)).isEqualTo(60_000 + 72_000 + 60_000);
        assertThat(terms.refilled(Limit.ITPM, 3_000, 3_000)).isZero();
        assertThat(terms.refilled(Limit.RPM, 2_500, 3_500)).isEqualTo(13.5);
        assertThat(terms.at(3_999)).isEqualTo(new Terms(60, false));
        assertThat(terms.at(4_000)).isEqualTo(Terms.FULL);
    }

    /** A policy states whole numbers. */
    @Test
    void theJudgeReckonsWithWhatThePolicySays() {
        Terms odd = new Terms(73, true);

        assertThat(odd.policy(true, "UTC").toJson()).contains("1095", "2920000", "438000");
        assertThat(odd.perSecond(Limit.RPM)).isEqualTo(1_095 * 0.9 / 60);
    }

    @Test
    void theBooksOfADayAreKeptWhereMidnightIsFar() {
        assertThat(LegRun.zone(12)).isEqualTo("UTC");
        assertThat(LegRun.zone(22)).isEqualTo("Asia/Tokyo");
        assertThat(LegRun.zone(0)).isEqualTo("Asia/Tokyo");
    }
}
