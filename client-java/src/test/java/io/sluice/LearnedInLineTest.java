package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Store.Effect;
import io.sluice.Store.Learned;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Forty agents that allow for 32,000 tokens begin at once: each stood in line for 32,000 tokens, though the first answers had
 * shown that they take 500, and the line let one in at a time.
 */
class LearnedInLineTest extends HeartFixture {
    private static final Call LARGE = Budget.CALL.maxOutputTokens(32_000);

    @BeforeEach
    void ofAClassThatLearns() {
        store.policy = Policy.parse("""
                project: acme
                classes:
                  - {name: m, models: ["m-*"], output_reserve: learned, max_output: 32000, limits: {otpm: 600000}}
                """);
        observing.learning.listener(heart::learned);
    }

    @Test
    void whatStandsInLineForFarMoreThanItNeedsAsksAgainInItsPlace() {
        Waiter first = ask(LARGE);
        Waiter second = ask(LARGE.agent("a-2"));
        assertThat(output(store.asked.get(1))).isEqualTo(32_000);

        knows(500);

        assertThat(store.asked).hasSize(4);
        assertThat(store.asked.subList(2, 4))
                .extracting(ask -> ask.permit().id())
                .containsExactly(id(first), id(second));
        assertThat(store.asked.subList(2, 4))
                .extracting(LearnedInLineTest::output)
                .containsOnly(500L);
        assertThat(waiters.standing()).isEqualTo(2);
    }

    @Test
    void whatNeedsALittleLessStays() {
        knows(500);
        ask(LARGE);

        knows(300);
        assertThat(store.asked).hasSize(1);
        knows(900);
        assertThat(store.asked).hasSize(1);
        knows(200);
        assertThat(store.asked).hasSize(2);
    }

    private void knows(long output) {
        observing.learning.knows(
                new Effect.Knows(new Learned("m", "-", 100, output, 0, 0), new Learned("m", "a-1", 0, 0, 0, 0)));
    }

    private static long output(Store.Ask ask) {
        List<Long> units = ask.costs().get(1).units();
        return units.get(0);
    }
}
