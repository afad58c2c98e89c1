package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Estimates.Usual;
import io.sluice.Store.Effect.Knows;
import io.sluice.Store.Learned;
import io.sluice.Store.Observation.Learn;
import io.sluice.Store.Observation.Outputs;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What one process knows of its calls, and what it has to tell. */
class LearningTest {
    private static final Call CALL = Call.of("m-1").agent("a");

    private final FakeStore store = new FakeStore();
    private final AtomicInteger news = new AtomicInteger();
    private final Learning learning = new Learning(store, "acme", news::incrementAndGet);

    private static Usage output(long tokens) {
        return new Usage(null, null, null, tokens);
    }

    private static Learned known(String agent, long samples, long output) {
        return new Learned("m", agent, samples, output, 250_000, 800_000);
    }

    // ---- what is known

    @Test
    void theClassesAreReadOnceAndKeepNobodyWaitingIfTheyCannotBe() {
        store.known = List.of(known("-", 40, 512));
        assertThat(learning.usual("m", null)).isEqualTo(Usual.UNKNOWN);

        assertThat(learning.ready()).isCompleted();
        assertThat(learning.ready()).isCompleted();
        assertThat(learning.usual("m", null)).isEqualTo(new Usual(512, 250_000, 800_000));
        assertThat(learning.usual("x", null)).isEqualTo(Usual.UNKNOWN);
        assertThat(store.reads).isEqualTo(1);
    }

    @Test
    void anAgentThatIsKnownWellEnoughReservesWhatItUses() {
        learning.knows(new Knows(known("-", 400, 512), known("a", 19, 8_192)));
        assertThat(learning.usual("m", "a").output()).as("too few answers").isEqualTo(512);

        learning.knows(new Knows(known("-", 400, 512), known("a", 20, 8_192)));
        assertThat(learning.usual("m", "a").output()).isEqualTo(8_192);
        assertThat(learning.usual("m", "b").output()).isEqualTo(512);
        assertThat(learning.usual("m", null).output()).isEqualTo(512);
    }

    @Test
    void ofAnAgentThatIsNotKnownItAsksOnce() {
        learning.usual("m", "a");
        learning.usual("m", "a");

        assertThat(news).hasValue(1);
        assertThat(learning.take(9)).containsExactly(Learn.nothing("m", "a"));
        learning.knows(new Knows(known("-", 0, 0), known("a", 0, 0)));
        learning.usual("m", "a");
        assertThat(learning.hasNews()).isFalse();
    }

    // ---- what is told

    @Test
    void whatCallsUsedIsAddedUpByClassAndAgent() {
        learning.used("m", CALL, new Usage(100, 800, 100, 500));
        learning.used("m", CALL, new Usage(200, 0, 0, 512));
        learning.used("m", CALL.agent("b"), new Usage(1, 2, 3, 40));
        learning.used("m", CALL, output(3_000));

        assertThat(learning.take(9))
                .containsExactly(
                        new Learn("m", "a", 0, 0, 800, 1_200, List.of(new Outputs(512, 2), new Outputs(3_000, 1))),
                        new Learn("m", "b", 0, 0, 2, 6, List.of(new Outputs(40, 1))));
        assertThat(learning.hasNews()).isFalse();
    }

    @Test
    void aCallThatNamedItsBytesTeachesHowManyTokensAByteHas() {
        learning.used("m", CALL.inputBytes(4_000), new Usage(100, 800, 100, 5));

        assertThat(learning.take(9))
                .containsExactly(new Learn("m", "a", 4_000, 1_000, 800, 1_000, List.of(new Outputs(5, 1))));
    }

    /** What of its input was the picture and what the text nobody tells. */
    @Test
    void aCallWithAPictureTeachesNothingOfThat() {
        learning.used("m", CALL.inputBytes(4_000).attachedTokens(4_784), new Usage(2_500, 0, 0, 5));

        assertThat(learning.take(9)).containsExactly(new Learn("m", "a", 0, 0, 0, 2_500, List.of(new Outputs(5, 1))));
    }

    /** Zero is an answer, nothing is none. */
    @Test
    void whatTheProviderDidNotTellTeachesNothing() {
        learning.used("m", CALL, Usage.UNKNOWN);
        assertThat(learning.hasNews()).isFalse();
        assertThat(news).hasValue(0);

        learning.used("m", CALL, new Usage(null, 800L, null, 0L));
        assertThat(learning.take(9)).containsExactly(new Learn("m", "a", 0, 0, 0, 0, List.of(new Outputs(0, 1))));
        learning.used("m", CALL, new Usage(100L, null, null, null));
        assertThat(learning.take(9)).containsExactly(new Learn("m", "a", 0, 0, 0, 100, List.of()));
    }

    @Test
    void howeverManyAnswersOneTellingIsShort() {
        for (long tokens = 0; tokens < 3_000_000; tokens += 97) {
            learning.used("m", CALL, output(tokens));
        }
        List<Learn> told = learning.take(9);
        assertThat(told).hasSize(1);
        assertThat(told.get(0).outputs()).hasSizeLessThan(Learn.MOST_OUTPUTS);
        assertThat(told.get(0).outputs().stream().mapToLong(Outputs::answers).sum())
                .isEqualTo((3_000_000 + 96) / 97);
    }

    /** Names that callers make up must not fill this process. */
    @Test
    void whereTooManyAgentsComeTheirCallsTeachWhatTheirClassUses() {
        for (int i = 0; i < 5_000; i++) {
            learning.used("m", CALL.agent("agent-" + i), output(10));
            learning.usual("m", "other-" + i);
        }
        List<Learn> told = learning.take(10_000);
        assertThat(told).hasSizeBetween(2_000, 2_001);
        assertThat(told.stream()
                        .flatMap(one -> one.outputs().stream())
                        .mapToLong(Outputs::answers)
                        .sum())
                .isEqualTo(5_000);
    }
}
