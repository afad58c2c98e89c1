package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sluice.OutageException;
import io.sluice.Store;
import io.sluice.Store.Answer;
import io.sluice.Store.Installed;
import io.sluice.Store.Layout;
import io.sluice.Store.OnHold;
import io.sluice.Store.Queued;
import io.sluice.Store.Settled;
import io.sluice.Store.Shadow;
import io.sluice.Store.StoredPolicy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A reply that makes no sense is an outage. Elsewhere it was taken for a yes: a nil counted as 0 used
 * (HeyPuter/puter#3574), an error inside a reply as room (BerriAI/litellm#35528).
 */
@Tag("contract")
class RepliesTest {
    private static final List<Object> GRANTED = List.of("granted", "n1", 1_000_000L, 5L, "1,2,3,4,5", 0L);
    private static final List<Object> SHADOW =
            List.of("granted", "n1", 1_000_000L, 5L, "1,2,3,4,5", 0L, 20L, 10L, "c:m", "rpm");
    private static final List<Object> WAITING = List.of("waiting", 20L, 20L, "c:m", "rpm", 1L, 7L);
    private static final List<Object> WAIT = List.of("wait", 20L, 20L, "c:m", "rpm", 0L);
    private static final List<Object> HOLD = List.of("hold", 12_000_000L, "c:m", "input", 1L, "a note");
    private static final List<Object> FULL = List.of("full", 9L, 8L, "line");

    @Test
    void readsWhatAUserLacks() {
        assertThat(Replies.lacks(List.of("rights", List.of()))).isEmpty();
        assertThat(Replies.lacks(List.of("rights", List.of("HSET {p}:levels", "TIME"))))
                .containsExactly("HSET {p}:levels", "TIME");
        for (List<Object> nonsense : List.<List<Object>>of(
                List.of(), List.of("rights"), List.of("rights", 1L), List.of("left", List.of()))) {
            OutageException thrown = catchThrowableOfType(OutageException.class, () -> Replies.lacks(nonsense));
            assertThat(thrown.reason()).isEqualTo("bad_reply");
        }
    }

    @Test
    void readsEveryAnswer() {
        assertThat(Replies.answer(GRANTED)).isEqualTo(new Answer.Granted("n1", 1_000_000, 5, "1,2,3,4,5", false, null));
        assertThat(Replies.answer(SHADOW))
                .isEqualTo(
                        new Answer.Granted("n1", 1_000_000, 5, "1,2,3,4,5", false, new Shadow(20, 10, "c:m", "rpm")));
        assertThat(Replies.answer(WAITING)).isEqualTo(new Answer.Waiting(new Queued(20, 20, "c:m", "rpm", 1), 7));
        assertThat(Replies.answer(List.of("waiting", 20L, 0L, "c:m", "line", 3L, -1L)))
                .isEqualTo(new Answer.Waiting(new Queued(20, 0, "c:m", "line", 3), -1));
        assertThat(Replies.answer(WAIT)).isEqualTo(new Answer.Wait(new Queued(20, 20, "c:m", "rpm", 0)));
        assertThat(Replies.answer(HOLD))
                .isEqualTo(new Answer.Hold(new OnHold("c:m", 12_000_000, "input", true, "a note")));
        assertThat(Replies.answer(List.of("hold", -1L, "p", "credits", 0L, "")))
                .isEqualTo(new Answer.Hold(new OnHold("p", Store.UNTIL_RELEASED, "credits", false, "")));
        assertThat(Replies.answer(FULL)).isEqualTo(new Answer.Full(9, 8, "line"));
        assertThat(Replies.answer(List.of("never", "p", "itpm", 9L, 8L)))
                .isEqualTo(new Answer.Never("p", "itpm", 9, 8));
        assertThat(Replies.answer(List.of("closed", "p", "rpm"))).isEqualTo(new Answer.Closed("p", "rpm"));
        assertThat(Replies.answer(List.of("conflict"))).isEqualTo(new Answer.Conflict());
        assertThat(Replies.answer(List.of("ended", "settled"))).isEqualTo(new Answer.Ended("settled"));
        assertThat(Replies.answer(List.of("stale", "2:a"))).isEqualTo(new Answer.Stale("2:a"));
        assertThat(Replies.answer(List.of("lost", "levels"))).isEqualTo(new Answer.Lost("levels"));
    }

    @Test
    void readsWhatTheOtherScriptsSay() {
        assertThat(Replies.settled(List.of("ended", "settled", 1L, "memo")))
                .isEqualTo(new Settled.Ended("settled", true, "memo"));
        assertThat(Replies.installed(List.of("unchanged", "1:a"))).isEqualTo(new Installed.Done("1:a", false));
        assertThat(Replies.policy(List.of("lost", "levels"))).isNull();
        assertThat(Replies.policy(
                        List.of("policy", "1:a", "{}", List.of("p", List.of("rpm", "itpm"), List.of(1L, 0L)))))
                .isEqualTo(new StoredPolicy(
                        "1:a", "{}", List.of(new Layout("p", List.of("rpm", "itpm"), List.of(true, false)))));
    }

    static Stream<List<Object>> nonsense() {
        Stream<List<Object>> codes = Stream.of(
                List.of(),
                Arrays.asList((Object) null),
                List.of(1L),
                List.of("allowed"),
                List.of("GRANTED", "n1", 1_000_000L, 5L, "", 0L),
                List.of(List.of("granted")),
                List.of("conflict", "more"),
                List.of("closed", "p"));
        // Each element in turn missing, nil, and of types and values that it never has.
        Stream<List<Object>> granted = Stream.of(1, 2, 3, 4, 5).flatMap(i -> broken(GRANTED, i));
        Stream<List<Object>> shadow = Stream.of(1, 2, 3, 4, 5, 8, 9).flatMap(i -> broken(SHADOW, i));
        Stream<List<Object>> waiting = Stream.of(1, 2, 3, 4, 5).flatMap(i -> broken(WAITING, i));
        Stream<List<Object>> wait = Stream.of(1, 2, 3, 4, 5).flatMap(i -> broken(WAIT, i));
        Stream<List<Object>> full = Stream.of(1, 2, 3).flatMap(i -> broken(FULL, i));
        Stream<List<Object>> hold = Stream.of(2, 3, 4, 5).flatMap(i -> broken(HOLD, i));
        return Stream.of(codes, granted, shadow, waiting, wait, full, hold).flatMap(s -> s);
    }

    private static Stream<List<Object>> broken(List<Object> reply, int i) {
        List<Object> shorter = new ArrayList<>(reply);
        shorter.remove(i);
        Stream<Object> values = reply.get(i) instanceof Long
                ? Stream.of("nan", "inf", "", "7", -1L, 1.5, true, List.of())
                : Stream.of(7L, false, List.of());
        List<Object> nil = new ArrayList<>(reply);
        nil.set(i, null);
        return Stream.concat(Stream.of(shorter, nil), values.map(value -> {
            List<Object> other = new ArrayList<>(reply);
            other.set(i, value);
            return other;
        }));
    }

    /** Of the right shape, and of a value that no script gives. */
    @Test
    void soIsAValueThatCannotBe() {
        Stream.<Runnable>of(
                        () -> Replies.answer(List.of("granted", "n", 900_000_001L, 5L, "", 0L)),
                        () -> Replies.answer(List.of("granted", "n", Long.MAX_VALUE, 5L, "", 0L)),
                        () -> Replies.answer(List.of("wait", 20L, 21L, "c:m", "rpm", 1L)),
                        () -> Replies.answer(List.of("wait", 20L, 20L, "c:m", "rpm", 1L << 31)),
                        () -> Replies.answer(List.of("waiting", 20L, 20L, "c:m", "rpm", 0L, 7L)),
                        () -> Replies.answer(List.of("waiting", 20L, 20L, "c:m", "rpm", 1L, -2L)),
                        () -> Replies.answer(List.of("hold", 0L, "p", "input", 1L, "")),
                        () -> Replies.answer(List.of("hold", -2L, "p", "input", 1L, "")),
                        () -> Replies.answer(List.of("hold", "1", "p", "input", 1L, "")),
                        () -> Replies.answer(List.of("hold", 1L, "", "input", 1L, "")),
                        () -> Replies.answer(List.of("hold", 1L, "p", "", 1L, "")),
                        () -> Replies.answer(List.of("hold", 1L, "p", "input", 2L, "")),
                        () -> Replies.answer(List.of("stale", "")),
                        () -> Replies.answer(List.of("stale", "one:a")),
                        () -> Replies.answer(List.of("ended", "running")),
                        () -> Replies.settled(List.of("ended", "running", 0L, "")),
                        () -> Replies.settled(List.of("ended", "", 0L, "")),
                        () -> Replies.installed(List.of("installed", "7")),
                        () -> Replies.policy(List.of("policy", ":a", "{}")))
                .forEach(reading -> assertThat(catchThrowableOfType(OutageException.class, reading::run)
                                .reason())
                        .isEqualTo("bad_reply"));
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void anAnswerThatMakesNoSenseIsAnOutage(List<Object> reply) {
        OutageException thrown = catchThrowableOfType(OutageException.class, () -> Replies.answer(reply));

        assertThat(thrown.reason()).isEqualTo("bad_reply");
        assertThat(thrown).hasMessageStartingWith("script acquire answered what it never answers: ");
    }

    @Test
    void soIsOneOfAnyOtherScript() {
        List<Object> nothing = List.of();
        Stream.<Runnable>of(
                        () -> Replies.answer(null),
                        () -> Replies.settled(nothing),
                        () -> Replies.settled(List.of("ended", "settled", 2L, "")),
                        () -> Replies.installed(List.of("ok", "1:a")),
                        () -> Replies.policy(List.of("policy", "1:a")),
                        () -> Replies.policy(List.of("policy", "1:a", "{}", List.of("p", List.of("rpm"), List.of()))))
                .forEach(reading -> assertThat(catchThrowableOfType(OutageException.class, reading::run)
                                .reason())
                        .isEqualTo("bad_reply"));
    }
}
