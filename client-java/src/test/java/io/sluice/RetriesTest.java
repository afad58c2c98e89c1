package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.Rejection.Kind;
import io.sluice.Rejection.Scope;
import io.sluice.Retries.Next;
import io.sluice.Retries.Tally;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class RetriesTest {
    private static final Tally ONCE = Tally.NONE.plus(1);
    private static final Duration LONG = Duration.ofMinutes(10);

    private static Rejection retryable(Duration stated) {
        return new Rejection(Kind.REQUESTS, Scope.CLASS, true, stated);
    }

    private static Next next(Rejection rejection, Tally tally, Duration left) {
        return Retries.next(rejection, false, tally, CallOptions.DEFAULT, left, 0.5);
    }

    private static String stop(Next next) {
        return ((Next.Stop) next).why();
    }

    /** The two ends of each row: chance 0, and chance 1. */
    @ParameterizedTest
    @CsvSource({
        // stated ms (-1: nothing), failures, least ms, most ms
        "61000, 1, 61000, 61000",
        "1500, 9, 1500, 1500",
        "200, 1, 200, 200",
        "17, 1, 200, 200",
        "0, 1, 200, 1000",
        "-1, 1, 200, 1000",
        "-1, 2, 200, 2000",
        "-1, 3, 200, 4000",
        "-1, 6, 200, 32000",
        "-1, 7, 200, 60000",
        "-1, 1000000, 200, 60000",
        "0, 7, 200, 60000"
    })
    void whatIsStatedIsObeyedAndElseItBacksOff(long statedMs, int failures, long leastMs, long mostMs) {
        Duration stated = statedMs < 0 ? null : Duration.ofMillis(statedMs);
        assertThat(Backoff.pause(stated, failures, 0)).isEqualTo(Duration.ofMillis(leastMs));
        assertThat(Backoff.pause(stated, failures, 1)).isEqualTo(Duration.ofMillis(mostMs));
    }

    @Test
    void chanceSpreadsThoseWhoFailedTogether() {
        assertThat(Backoff.pause(null, 5, 0.25)).isEqualTo(Duration.ofMillis(200 + 15_800 / 4));
    }

    @Test
    void itIsSentAgainAfterWhatWasStated() {
        assertThat(next(retryable(Duration.ofSeconds(12)), ONCE, LONG))
                .isEqualTo(new Next.Again(Duration.ofSeconds(12)));
        assertThat(next(retryable(Duration.ofSeconds(12)), ONCE, Duration.ofSeconds(12)))
                .as("to the last moment")
                .isEqualTo(new Next.Again(Duration.ofSeconds(12)));
    }

    @Test
    void itIsNeverSentEarlierThanStated() {
        assertThat(stop(next(retryable(Duration.ofSeconds(61)), ONCE, Duration.ofMillis(59_001))))
                .isEqualTo("to be sent again in 61 s, but it may take only 60 s longer");
        assertThat(stop(next(retryable(null), ONCE, Duration.ZERO))).endsWith("only 0 s longer");
    }

    /** The classification decides, not the kind. */
    @ParameterizedTest
    @EnumSource
    void onlyTheClassificationSaysWhetherItIsSentAgain(Kind kind) {
        Rejection no = new Rejection(kind, Scope.PROJECT, false, Duration.ofSeconds(1));
        assertThat(stop(next(no, ONCE, LONG))).contains("cannot help");
        Rejection yes = new Rejection(kind, Scope.PROJECT, true, Duration.ofSeconds(1));
        assertThat(next(yes, ONCE, LONG)).isInstanceOf(Next.Again.class);
    }

    @Test
    void whatWasHandedOnIsNotSentTwiceUnlessItMay() {
        assertThat(stop(Retries.next(retryable(null), true, ONCE, CallOptions.DEFAULT, LONG, 0)))
                .contains("handed on");
        assertThat(Retries.next(retryable(null), true, ONCE, CallOptions.DEFAULT.withRestartedStreams(), LONG, 0))
                .isInstanceOf(Next.Again.class);
    }

    /** HKUDS/nanobot#2760: twelve requests for four attempts, forty-five through three layers. */
    @ParameterizedTest
    @CsvSource({
        // requests of each attempt so far, most, again
        "1, 1, false",
        "1, 2, true",
        "1 1 1, 3, false",
        "3, 8, true",
        "3 3, 8, false",
        "1 3, 6, false",
        "1 3, 7, true",
        "3, 3, false"
    })
    void requestsAreCountedAndTheNextAttemptIsExpectedToTakeAsMany(String requests, int most, boolean again) {
        Tally tally = Tally.NONE;
        for (String one : requests.split(" ", -1)) {
            tally = tally.plus(Integer.parseInt(one));
        }
        CallOptions options = CallOptions.DEFAULT.withMaxAttempts(most);
        assertThat(Retries.next(retryable(null), false, tally, options, LONG, 0) instanceof Next.Again)
                .isEqualTo(again);
    }

    @Test
    void optionsOutOfRangeAreRefused() {
        assertThatThrownBy(() -> CallOptions.DEFAULT.withMaxAttempts(0)).hasMessageContaining("got 0");
        assertThatThrownBy(() -> CallOptions.DEFAULT.withTotalTime(Duration.ofSeconds(-1)))
                .hasMessageContaining("totalTime");
    }
}
