package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class UntoldTest {
    private static final long NOW_US = TimeUnit.SECONDS.toMicros(1_796_000_000);

    @Test
    void anIdSaysForAnHourThatItsPermitMayRun() {
        String id = Untold.id(NOW_US);
        assertThat(Names.isName(id)).isTrue();
        assertThat(id).hasSizeLessThanOrEqualTo(32).isNotEqualTo(Untold.id(NOW_US));
        assertThat(Untold.mayRun(id, NOW_US + minutes(59))).isTrue();
        assertThat(Untold.mayRun(id, NOW_US + minutes(61))).isFalse();
    }

    /** Who has heard no clock yet cannot call it old. */
    @Test
    void withoutAClockItMayRun() {
        assertThat(Untold.mayRun(Untold.id(NOW_US), 1)).isTrue();
    }

    @Test
    void otherIdsAreWhatRedisSaysOfThem() {
        for (String id : new String[] {"job-1", RandomIds.next(), "@team/bot", "@bot.one!", "a@b.c", "@.x"}) {
            assertThat(Untold.mayRun(id, NOW_US)).as(id).isFalse();
        }
    }

    /** A name made up in that form was answered 503, as if asking again could help. */
    @Test
    void whatNoDeskGivesIsUnknown() {
        String time = Long.toString(TimeUnit.MICROSECONDS.toSeconds(NOW_US), 36);
        String nonce = RandomIds.next();
        for (String id : new String[] {
            "@" + time + ".x",
            "@" + time + "." + nonce + "x",
            "@" + time + "." + nonce.substring(1) + ":",
            "@0" + time + "." + nonce,
            "@-" + time + "." + nonce,
            "@" + time.toUpperCase(java.util.Locale.ROOT) + "." + nonce,
            Untold.id(NOW_US + minutes(61)),
            "@1y2p0ij32e8e7." + nonce
        }) {
            assertThat(Untold.mayRun(id, NOW_US)).as(id).isFalse();
        }
        assertThat(Untold.mayRun(Untold.id(NOW_US + minutes(2)), NOW_US))
                .as("clocks of two Redis may differ")
                .isTrue();
    }

    private static long minutes(int minutes) {
        return TimeUnit.NANOSECONDS.toMicros(Duration.ofMinutes(minutes).toNanos());
    }
}
