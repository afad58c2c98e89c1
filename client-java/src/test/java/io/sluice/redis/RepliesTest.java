package io.sluice.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.OutageException;
import io.sluice.Store.Answer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a script does not answer is an outage: HeyPuter/puter#3574, BerriAI/litellm#35528. */
class RepliesTest {

    static Stream<List<Object>> nonsense() {
        return Stream.of(
                List.of(),
                Arrays.asList((Object) null),
                List.of("yes"),
                List.of(1L),
                List.of("granted"),
                List.of("granted", "n", 30_000_000L, 1L, "m"), // one element missing
                List.of("granted", "n", 30_000_000L, 1L, "m", 0L, 0L), // one too many
                List.of("granted", "n", "nan", 1L, "m", 0L),
                List.of("granted", "n", -1L, 1L, "m", 0L),
                List.of("granted", "n", 30_000_000L, 1L, "m", 2L),
                List.of("GRANTED", "n", 30_000_000L, 1L, "m", 0L),
                List.of("wait", 0L, 0L, "p", "rpm"), // a wait of nothing would be asked in a loop
                Arrays.asList("wait", 1L, null, "p", "rpm"));
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void nonsenseIsAnOutageAndNeverAGrant(List<Object> reply) {
        assertThatThrownBy(() -> Replies.answer(reply))
                .isInstanceOfSatisfying(
                        OutageException.class, e -> assertThat(e.reason()).isEqualTo("bad_reply"));
        assertThatThrownBy(() -> Replies.settled(reply)).isInstanceOf(OutageException.class);
        assertThatThrownBy(() -> Replies.beat(reply, 1)).isInstanceOf(OutageException.class);
        assertThatThrownBy(() -> Replies.installed(reply)).isInstanceOf(OutageException.class);
    }

    @Test
    void aGrantIsReadWhole() {
        assertThat(Replies.answer(List.of("granted", "n", 30_000_000L, 7L, "1,2,0,0,3", 1L)))
                .isEqualTo(new Answer.Granted("n", 30_000_000L, 7L, "1,2,0,0,3", true));
    }
}
