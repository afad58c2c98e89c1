package io.sluice.testbed.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RuleTest {
    private static final double REFERENCE = 100;

    /** The ratio is Sluice's number over 100. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            at most  | 0.4 |     |   40 | true  | met
            at most  | 0.4 |     |   45 | false | missed by 12.5 %
            at most  | 1.5 | 1.2 |  130 | true  | met, short of the aim
            at most  | 1.5 | 1.2 |  120 | true  | met
            at least | 12  | 20  | 2000 | true  | met
            at least | 12  | 20  | 1999 | true  | met, short of the aim
            at least | 12  | 20  |  900 | false | missed by 25.0 %
            """)
    void saysWhetherANumberWasReachedAndByHowMuchNot(
            String way, double reach, @Nullable Double aim, double sluice, boolean met, String words) {
        Rule rule = new Rule("pairs/s", NoOp.LABEL, 1, Sample::pairsPerSecond, way.equals("at most"), reach, aim);

        Verdict verdict = rule.judge(List.of(series(NoOp.LABEL, 1, REFERENCE), series(SluicePairs.LABEL, 1, sluice)));

        assertThat(verdict.met()).isEqualTo(met);
        assertThat(verdict.words()).isEqualTo(words);
    }

    /** The second round was slow for both: 2, 2 and 3, though the medians are 40 and 20. */
    @Test
    void aRatioIsTakenRoundByRound() {
        Spread ratio = series(SluicePairs.LABEL, 1, 40, 10, 60)
                .ratio(series(NoOp.LABEL, 1, 20, 5, 20), Sample::pairsPerSecond);

        assertThat(ratio).isEqualTo(new Spread(2, 2, 3));
    }

    @Test
    void comparesAtTheSameNumberOfThreads() {
        Rule rule = new Rule("pairs/s", NoOp.LABEL, 8, Sample::pairsPerSecond, false, 1, null);

        Verdict verdict = rule.judge(List.of(
                series(NoOp.LABEL, 1, 1),
                series(SluicePairs.LABEL, 1, 1),
                series(NoOp.LABEL, 8, 10),
                series(SluicePairs.LABEL, 8, 30)));

        assertThat(verdict.ratio().median()).isEqualTo(3);
        assertThatThrownBy(() -> rule.judge(List.of(series(NoOp.LABEL, 1, 1)))).hasMessageContaining("not measured");
    }

    @Test
    void saysItsBound() {
        assertThat(Rule.pairs(32).stream().map(Rule::bound).map(Bound::toString))
                .containsExactly("≤ 0.4", "≤ 1.3", "≥ 12, aim 20", "≥ 0.45, aim 0.6", "≤ 1.5");
    }

    private static Series series(String contender, int threads, double... pairsPerSecond) {
        return new Series(
                contender,
                threads,
                Arrays.stream(pairsPerSecond)
                        .mapToObj(rate -> new Sample(rate, 1, 1, 1, 1, 1, 1))
                        .toList());
    }
}
