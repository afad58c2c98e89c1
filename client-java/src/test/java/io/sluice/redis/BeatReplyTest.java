package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.sluice.OutageException;
import io.sluice.Store;
import io.sluice.Store.Beat;
import io.sluice.Store.BeatAsk;
import io.sluice.Store.News;
import io.sluice.Store.OnHold;
import io.sluice.Store.PermitName;
import io.sluice.Store.Place;
import io.sluice.Store.Queued;
import io.sluice.Store.Renewal;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code beat} says, and what it never does: see {@link RepliesTest}. */
@Tag("contract")
class BeatReplyTest {
    private static final BeatAsk ASK = new BeatAsk(
            "acme",
            "h1",
            List.of(new PermitName("a", ""), new PermitName("b", "n")),
            List.of("c", "d", "e"),
            List.of("f", "g", "h", "i"),
            List.of());

    private static final List<Object> RENEWED = List.of(1L, 0L);
    private static final List<Object> CLAIMED =
            List.of(List.of("granted", "n", 1_000_000L, 9L, "memo"), List.of("waiting"), List.of("gone"));
    private static final List<Object> NEWS = List.of("g", "x", "s", "y");
    private static final List<Object> LOOKED = List.of(
            List.of("waiting", 20L, 10L, "p", "itpm", 3L), List.of("granted"), List.of("again"), List.of("gone"));

    private static final List<Object> HOLDS = List.of(
            List.of("c:m", 7L, "input", 1L, "a note"),
            List.of("p", -1L, "credits", 0L, ""),
            List.of("c:x", 0L, "overload", 1L, ""));

    private static List<Object> reply(Object renewed, Object claimed, Object news, Object looked) {
        return List.of("beat", "1:a", 9L, 2L, 0L, -1L, renewed, claimed, news, looked, HOLDS, List.of());
    }

    @Test
    void readsAllThatOneBeatTells() {
        assertThat(BeatReply.read(reply(RENEWED, CLAIMED, NEWS, LOOKED), ASK))
                .isEqualTo(new Beat.Alive(
                        "1:a",
                        9,
                        2,
                        false,
                        -1,
                        List.of(Renewal.RENEWED, Renewal.LOST),
                        List.of(
                                new Place.Running("n", 1_000_000, 9, "memo"),
                                new Place.InLine(null),
                                new Place.ToSubmit()),
                        List.of(new News("x", new Place.ToClaim()), new News("y", new Place.ToSubmit())),
                        List.of(
                                new Place.InLine(new Queued(20, 10, "p", "itpm", 3)),
                                new Place.ToClaim(),
                                new Place.ToSubmit(),
                                new Place.ToSubmit()),
                        List.of(
                                new OnHold("c:m", 7, "input", true, "a note"),
                                new OnHold("p", Store.UNTIL_RELEASED, "credits", false, ""),
                                new OnHold("c:x", 0, "overload", true, "")),
                        List.of()));
        assertThat(BeatReply.read(List.of("lost", "levels"), ASK)).isEqualTo(new Beat.Lost("levels"));
    }

    static Stream<List<Object>> nonsense() {
        List<Object> good = reply(RENEWED, CLAIMED, NEWS, LOOKED);
        Stream<List<Object>> heads = Stream.of(
                        List.of(1, "a"),
                        List.of(2, 0L),
                        List.of(3, -1L),
                        List.of(4, 2L),
                        List.of(5, -2L),
                        List.of(5, "1"))
                .map(change -> with(good, (int) change.get(0), change.get(1)));
        Stream<List<Object>> parts = Stream.of(
                reply(List.of(1L), CLAIMED, NEWS, LOOKED),
                reply(List.of(1L, 3L), CLAIMED, NEWS, LOOKED),
                reply(1L, CLAIMED, NEWS, LOOKED),
                reply(RENEWED, CLAIMED.subList(0, 2), NEWS, LOOKED),
                reply(RENEWED, with(CLAIMED, 0, List.of("granted")), NEWS, LOOKED),
                reply(RENEWED, with(CLAIMED, 0, List.of("granted", "n", 900_000_001L, 9L, "")), NEWS, LOOKED),
                reply(RENEWED, with(CLAIMED, 1, List.of("again")), NEWS, LOOKED),
                reply(RENEWED, with(CLAIMED, 1, "waiting"), NEWS, LOOKED),
                reply(RENEWED, CLAIMED, NEWS.subList(0, 3), LOOKED),
                reply(RENEWED, CLAIMED, with(NEWS, 0, "p"), LOOKED),
                reply(RENEWED, CLAIMED, with(NEWS, 1, 7L), LOOKED),
                reply(RENEWED, CLAIMED, NEWS, LOOKED.subList(0, 3)),
                reply(RENEWED, CLAIMED, NEWS, with(LOOKED, 0, List.of("waiting"))),
                reply(RENEWED, CLAIMED, NEWS, with(LOOKED, 0, List.of("waiting", 20L, 21L, "p", "itpm", 3L))),
                reply(RENEWED, CLAIMED, NEWS, with(LOOKED, 0, List.of("waiting", 20L, 10L, "p", "itpm", 0L))),
                reply(RENEWED, CLAIMED, NEWS, with(LOOKED, 1, List.of("running"))),
                with(good, 10, HOLDS.get(0)),
                with(good, 10, List.of(List.of())),
                with(good, 10, List.of(List.of("p", -1L, "credits", 0L))),
                with(good, 10, List.of(List.of("p", -2L, "credits", 0L, ""))),
                with(good, 10, List.of(List.of("p", 1L, "No kind", 0L, ""))),
                with(good, 10, List.of(List.of("p", 1L, "credits", 2L, ""))),
                with(good, 10, List.of(List.of("", 1L, "credits", 0L, ""))),
                good.subList(0, 10),
                with(good, 0, "beats"),
                List.of("lost"),
                List.of());
        return Stream.concat(heads, parts);
    }

    private static List<Object> with(List<Object> list, int i, Object value) {
        List<Object> other = new ArrayList<>(list);
        other.set(i, value);
        return other;
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void anAnswerThatMakesNoSenseIsAnOutage(List<Object> reply) {
        OutageException thrown = catchThrowableOfType(OutageException.class, () -> BeatReply.read(reply, ASK));

        assertThat(thrown.reason()).isEqualTo("bad_reply");
        assertThat(thrown).hasMessageStartingWith("script beat answered what it never answers: ");
    }

    @Test
    void aHintNamesTheGrantsAndNothingElseIsOne() {
        assertThat(Messages.granted("g a b/c")).containsExactly("a", "b/c");
        assertThat(Messages.granted("free")).isEmpty();
        assertThat(Messages.granted("")).isEmpty();
    }
}
