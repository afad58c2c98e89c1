package io.sluice.testbed.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LineSeriesTest {
    /** The second round was slow for both lines. */
    @Test
    void aRatioIsTakenRoundByRound() {
        LineSeries longLine = series(Crowd.DISTINCT, 10_000, 200, 400);
        LineSeries shortLine = series(Crowd.DISTINCT, 10, 100, 400);

        assertThat(longLine.ratio(LineStep.CLAIM, shortLine)).isEqualTo(new Spread(1.5, 1, 2));
    }

    /** One run in a hundred is interrupted by something. */
    @Test
    void ofManyRunsTheMedianCounts() {
        ScriptCost cost =
                ScriptCost.median(List.of(new ScriptCost(100, 20), new ScriptCost(9_000, 20), new ScriptCost(102, 22)));

        assertThat(cost).isEqualTo(new ScriptCost(102, 20));
    }

    @Test
    void aLineKnowsWhichStepsWereMeasuredInIt() {
        LineSeries series = series(Crowd.FORTY_AGENTS, 10, 1);

        assertThat(series.has(LineStep.CLAIM)).isTrue();
        assertThat(series.has(LineStep.CANCEL)).isFalse();
    }

    private static LineSeries series(Crowd crowd, int waiters, double... micros) {
        LineSeries series = new LineSeries(crowd, waiters);
        for (double one : micros) {
            series.add(Map.of(LineStep.CLAIM, new ScriptCost(one, 1)));
        }
        return series;
    }
}
