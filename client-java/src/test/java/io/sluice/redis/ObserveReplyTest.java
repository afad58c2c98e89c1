package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sluice.OutageException;
import io.sluice.Store;
import io.sluice.Store.Effect;
import io.sluice.Store.Learned;
import io.sluice.Store.Observation;
import io.sluice.Store.Observed;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code observe} says, and what it never does: see {@link RepliesTest}. */
@Tag("contract")
class ObserveReplyTest {
    private static final List<Observation> TOLD = List.of(
            new Observation.Hold("p", Observation.NOT_STATED, 9, "input", true, 5, ""),
            new Observation.Hold("p", Store.UNTIL_RELEASED, Store.UNTIL_RELEASED, "credits", false, 5, ""),
            new Observation.Release("*"),
            new Observation.Slow("c:m", 0, 0, 0, 0),
            new Observation.Less("c:m", "rpm", 5),
            new Observation.Left("c:m", "rpm", 4, 1, 0, 0, Observation.NOT_SAID, Observation.NOT_SAID, 0),
            new Observation.Learn("m", "a", 0, 0, 0, 0, List.of()));

    private static final List<List<Object>> EFFECTS = List.of(
            List.of(1_000_000L),
            List.of(-1L),
            List.of(1L),
            List.of(0L),
            List.of(1L),
            List.of(1L, 0L, 1L),
            List.of(40L, 512L, 250_000L, 800_000L, 0L, 0L, 0L, 0L));

    private static List<Object> reply(Object effects) {
        return List.of("observed", 9L, "1:a", effects);
    }

    @Test
    void readsWhatEachObservationDid() {
        assertThat(ObserveReply.read(reply(EFFECTS), TOLD))
                .isEqualTo(new Observed.Done(
                        9,
                        "1:a",
                        List.of(
                                new Effect.Holding(1_000_000),
                                new Effect.Holding(Store.UNTIL_RELEASED),
                                new Effect.Changed(true),
                                new Effect.Changed(false),
                                new Effect.Changed(true),
                                new Effect.Tightened(true, false, true),
                                new Effect.Knows(
                                        new Learned("m", "-", 40, 512, 250_000, 800_000),
                                        new Learned("m", "a", 0, 0, 0, 0)))));
        assertThat(ObserveReply.read(List.of("lost", "levels"), TOLD)).isEqualTo(new Observed.Lost("levels"));
    }

    @Test
    void readsWhatWasLearnedOfTheClasses() {
        assertThat(ObserveReply.learned(List.of("learned", List.of(List.of("m", "-", 40L, 512L, 250_000L, 800_000L)))))
                .containsExactly(new Learned("m", "-", 40, 512, 250_000, 800_000));
        assertThat(ObserveReply.learned(List.of("lost", "learn"))).isEmpty();
    }

    static Stream<List<Object>> nonsense() {
        Stream<List<Object>> heads = Stream.of(
                List.of(),
                List.of("ok", 9L, "1:a", EFFECTS),
                List.of("observed", 9L, "1:a"),
                List.of("observed", 0L, "1:a", EFFECTS),
                List.of("observed", 9L, "a", EFFECTS),
                List.of("observed", 9L, "1:a", EFFECTS, 1L),
                List.of("observed", 9L, "1:a", 7L),
                List.of("lost"),
                reply(EFFECTS.subList(1, 7)));
        Stream<List<Object>> shorter = IntStream.range(0, TOLD.size())
                .mapToObj(i -> with(i, EFFECTS.get(i).subList(1, EFFECTS.get(i).size())));
        Stream<List<Object>> values = Stream.of(
                with(0, List.of(-2L)),
                with(0, List.of("1")),
                with(0, 1L),
                with(2, List.of(2L)),
                with(5, List.of(1L, 0L, 2L)),
                with(6, List.of(40L, 512L, 250_000L, 1_000_001L, 0L, 0L, 0L, 0L)),
                with(6, List.of(40L, 0L, 250_000L, 800_000L, 0L, 0L, 0L, 0L)),
                with(6, List.of(40L, 512L, -1L, 800_000L, 0L, 0L, 0L, 0L)),
                with(6, List.of(40L, 512L, 1L, 800_000L, 0L, 5L, 0L, 0L)));
        return Stream.of(heads, shorter, values).flatMap(s -> s);
    }

    private static List<Object> with(int i, Object effect) {
        List<Object> other = new ArrayList<>(EFFECTS);
        other.set(i, effect);
        return reply(other);
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void anAnswerThatMakesNoSenseIsAnOutage(List<Object> reply) {
        OutageException thrown = catchThrowableOfType(OutageException.class, () -> ObserveReply.read(reply, TOLD));

        assertThat(thrown.reason()).isEqualTo("bad_reply");
        assertThat(thrown).hasMessageStartingWith("script observe answered what it never answers: ");
    }

    @Test
    void soIsWhatCannotHaveBeenLearned() {
        Stream.<List<Object>>of(
                        List.of("learned"),
                        List.of("learned", List.of(), 1L),
                        List.of("known", List.of()),
                        List.of("learned", List.of(List.of("m", "-", 40L, 512L, 250_000L))),
                        List.of("learned", List.of(List.of("m", "-", 0L, 512L, 250_000L, 0L))),
                        List.of("learned", List.of(List.of(1L, "-", 40L, 512L, 250_000L, 0L))))
                .forEach(reply -> assertThat(
                                catchThrowableOfType(OutageException.class, () -> ObserveReply.learned(reply))
                                        .reason())
                        .isEqualTo("bad_reply"));
    }
}
