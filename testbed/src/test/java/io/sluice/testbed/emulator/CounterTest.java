package io.sluice.testbed.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each counting, worked by hand. {@code booked} is {@code ms:amount} in order; waits are in microseconds. */
class CounterTest {

    @ParameterizedTest(name = "{0} {1}/min burst {2} booked [{3}]: {4} more at {5} ms waits {6}, {7} left ({8})")
    @CsvSource(textBlock = """
            # counting, limit, burst s, booked,     asked, at ms, wait us,  left, why
            BUCKET,    60, 60, ,                      1,      0,        0,   60, starts full
            BUCKET,    60, 60, ,                     60,      0,        0,   60, all of it at once
            BUCKET,    60, 60, 0:60,                  1,      0,  1000000,    0, one a second comes back
            BUCKET,    60, 60, 0:60,                  1,    999,     1000,    0, a millisecond early
            BUCKET,    60, 60, 0:60,                  1,   1000,        0,    1, to the microsecond
            BUCKET,    60, 60, 0:60,                 30,  10000, 20000000,   10, 10 are there and 20 to come
            BUCKET,    60, 60, 0:60,                  1, 500000,        0,   60, never more than it holds
            BUCKET,     7, 60, 0:7,                   1,      0,  8571429,    0, 60/7 s rounded up
            BUCKET,    60, 60, 0:90,                  1,      0, 31000000,    0, debt of 30 and then one
            BUCKET,    60, 60, '0:50,10000:20',       1,  10000,  1000000,    0, 10 + 10 refilled - 20
            BUCKET,    60,  5, ,                      5,      0,        0,    5, 5 s of it
            BUCKET,    60,  5, 0:5,                   1,      0,  1000000,    0, same rate however small
            BUCKET,    60,  5, 0:5,                   1,  60000,        0,    5, a minute's rest gives 5 s of it
            BUCKET,    60, 60, ,                     61,      0,        1,   60, never fits though full
            BUCKET,    60, 60, 0:60,                 61,      0, 60000000,    0, never fits: until full
            BUCKET,     0, 60, ,                      1,      0,        1,    0, closed
            ROLLING,   60, 60, ,                     60,      0,        0,   60, nothing in the last minute
            ROLLING,   60, 60, 0:60,                  1,      0, 60000000,    0, full for a minute
            ROLLING,   60, 60, 0:60,                  1,  59999,     1000,    0, still in the last minute
            ROLLING,   60, 60, 0:60,                 60,  60000,        0,   60, exactly 60 s old is out
            ROLLING,   60, 60, '0:20,10000:40',      20,  10000, 50000000,    0, the 20 leave at 60 s
            ROLLING,   60, 60, '0:20,10000:40',      21,  10000, 60000000,    0, the 40 must leave too
            ROLLING,   60, 60, '0:20,10000:30',      10,  10000,        0,   10, up to the limit and not past it
            ROLLING,   60, 60, '0:20,10000:30',      11,  10000, 50000000,   10, one past it
            ROLLING,   60, 60, '0:50,1000:30',        1,   1000, 59000000,    0, carried over: 30 stay after 60 s
            ROLLING,   60, 60, 0:10,                 61,      0, 60000000,   50, never fits: until empty
            ROLLING,   60, 60, ,                     61,      0,        1,   60, never fits though empty
            QUANTISED, 60,  5, ,                      5,      0,        0,    5, 5 in each 5 s
            QUANTISED, 60,  5, 0:5,                   1,   1000,  4000000,    0, until the window ends
            QUANTISED, 60,  5, 0:5,                   1,   4999,     1000,    0, its last millisecond
            QUANTISED, 60,  5, 0:5,                   5,   5000,        0,    5, a new window
            QUANTISED, 60,  5, 4900:5,                5,   5000,        0,    5, 10 in 100 ms over an edge
            QUANTISED, 60,  5, 0:3,                   3,   2000,  3000000,    2, 3 + 3 > 5
            QUANTISED, 60,  5, 0:9,                   5,   5000,        0,    5, an excess is not carried on
            QUANTISED, 50,  5, 0:4,                   1,      0,  5000000,    0, 4 1/6 allows 4
            QUANTISED, 60, 60, 30000:60,              1,  30000, 30000000,    0, windows are aligned to the minute
            """)
    void waitsUntilTheLimitIsKept(
            Counting counting, long limit, long burstS, String booked, long asked, long atMs, long waitUs, long left) {
        Counter counter = counting.counter(Kind.REQUESTS, limit, Duration.ofSeconds(burstS));
        book(counter, booked);

        assertThat(counter.waitFor(asked, atMs * 1_000)).isEqualTo(waitUs);
        assertThat(counter.remaining(atMs * 1_000)).isEqualTo(left);
    }

    @ParameterizedTest(name = "{0} booked [{3}]: room at {4} ms after {5}, all free at {6} ({7})")
    @CsvSource(textBlock = """
            # counting, limit, burst s, booked, at ms, room us, free at ms, why
            BUCKET,    60, 60, ,            0,        0,     0, full
            BUCKET,    60, 60, 0:59,        0,        0, 59000, one left
            BUCKET,    60, 60, 0:60,        0,        1, 60000, at zero: any moment later is above it
            BUCKET,    60, 60, 0:90,        0, 30000001, 90000, 30 below zero
            BUCKET,    60, 60, 0:90,    31000,        0, 90000, one above zero
            ROLLING,   60, 60, 0:59,        0,        0, 60000, below the limit
            ROLLING,   60, 60, 0:60,        0, 60000000, 60000, at it
            ROLLING,   60, 60, '0:50,1000:30', 1000, 59000000, 61000, over it until the first leave
            QUANTISED, 60,  5, 0:4,      1000,        0,  5000, below what a window allows
            QUANTISED, 60,  5, 0:5,      1000,  4000000,  5000, at it
            QUANTISED, 60,  5, 0:50,     5000,        0,  5000, a new window forgets
            """)
    void hasRoomWhileTheLimitIsNotReached(
            Counting counting, long limit, long burstS, String booked, long atMs, long roomUs, long freeAtMs) {
        Counter counter = counting.counter(Kind.OUTPUT, limit, Duration.ofSeconds(burstS));
        book(counter, booked);

        assertThat(counter.waitForRoom(atMs * 1_000)).isEqualTo(roomUs);
        assertThat(counter.freeAt(atMs * 1_000)).isEqualTo(freeAtMs * 1_000);
    }

    @Test
    void refusesALimitThatCouldNeverAdmitAnything() {
        assertThatThrownBy(() -> Counting.QUANTISED.counter(Kind.REQUESTS, 11, Duration.ofSeconds(5)))
                .hasMessageContaining("rpm=11")
                .hasMessageContaining("5000 ms");
        assertThat(Counting.QUANTISED
                        .counter(Kind.REQUESTS, 12, Duration.ofSeconds(5))
                        .waitFor(1, 0))
                .isZero();
    }

    @Test
    void aWindowKeepsItsSumWhileItsRingGrowsAndTurns() {
        Window window = new Window();
        long expected = 0;
        for (int ms = 0; ms < 200_000; ms += 100) {
            window.add(ms % 7, ms * 1_000L);
            expected = 0;
            for (int t = Math.max(0, ms - 59_900); t <= ms; t += 100) {
                expected += t % 7;
            }
            assertThat(window.sum(ms * 1_000L)).isEqualTo(expected);
        }
        assertThat(window.sum(200_000_000_000L)).isZero();
    }

    private static void book(Counter counter, String booked) {
        if (booked != null) {
            for (String booking : booked.split(",", -1)) {
                String[] pair = booking.split(":", 2);
                counter.book(Long.parseLong(pair[1]), Long.parseLong(pair[0]) * 1_000);
            }
        }
    }
}
