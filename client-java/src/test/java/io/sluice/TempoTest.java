package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a process beats for a project: instants in ms from the start. */
class TempoTest {
    private final FakeTimer timer = new FakeTimer();
    private final long start = timer.nanoTime();
    private final List<Long> beats = new ArrayList<>();
    private long jitterNs;
    private long answerMs;
    private Runnable during = () -> {};
    private final Tempo tempo = new Tempo(timer.service(), timer::nanoTime, () -> jitterNs, this::beat);

    private void beat() {
        Tempo.Due due = tempo.begin();
        if (due != null) {
            beats.add((timer.nanoTime() - start) / 1_000_000);
            timer.service()
                    .schedule(
                            () -> {
                                during.run();
                                tempo.end();
                            },
                            answerMs,
                            java.util.concurrent.TimeUnit.MILLISECONDS);
        }
    }

    @Test
    void leasesAreRenewedAThirdOfTheLeaseAfter() {
        tempo.renewWithin(Duration.ofSeconds(30));
        timer.pass(9_999);
        assertThat(beats).isEmpty();
        timer.pass(1);
        assertThat(beats).containsExactly(10_000L);
        timer.pass(60_000);
        assertThat(beats).as("once, unless asked again").hasSize(1);
        assertThat(timer.alarms()).isZero();
    }

    /** The first lease asked for decides, a longer one does not put it off. */
    @Test
    void theShortestLeaseDecides() {
        tempo.renewWithin(Duration.ofSeconds(30));
        tempo.renewWithin(Duration.ofSeconds(3));
        tempo.renewWithin(Duration.ofSeconds(60));
        assertThat(timer.alarms()).as("one timer").isEqualTo(1);
        timer.pass(2_000);
        assertThat(beats).containsExactly(1_000L);
    }

    @Test
    void whileCallsWaitItBeatsFourTimesASecond() {
        during = () -> tempo.lineWithin(-1);
        tempo.lineWithin(-1);
        timer.pass(1_000);
        assertThat(beats).containsExactly(250L, 500L, 750L, 1_000L);
    }

    /** Told "in 70 ms": that instant, and never before it. The 20 ms on top are drawn anew for each beat. */
    @Test
    void itBeatsWhenAnythingCanStartAndALittleLater() {
        jitterNs = 12_000_000;
        during = () -> tempo.lineWithin(70_000);
        tempo.lineWithin(-1);
        timer.pass(250); // what the jitter was before does not matter to 250 ms
        timer.pass(82);
        assertThat(beats).containsExactly(250L, 332L);
    }

    @Test
    void twoBeatsAreTwentyMillisecondsApart() {
        during = () -> tempo.lineWithin(0);
        tempo.lineWithin(0);
        timer.pass(100);
        assertThat(beats).containsExactly(0L, 20L, 40L, 60L, 80L, 100L);
    }

    @Test
    void aGrantIsClaimedAtOnce() {
        tempo.lineWithin(-1);
        timer.pass(250);
        timer.pass(3);
        tempo.now();
        timer.pass(0);
        assertThat(beats).containsExactly(250L, 253L);
    }

    @Test
    void neverTwoAtATime() {
        answerMs = 80;
        tempo.now();
        timer.pass(10);
        tempo.now();
        tempo.soon();
        tempo.renewWithin(Duration.ofMillis(1));
        timer.pass(69);
        assertThat(beats).containsExactly(0L);
        timer.pass(1);
        assertThat(beats).as("what came meanwhile, together").containsExactly(0L, 80L);
        timer.pass(1_000);
        assertThat(beats).containsExactly(0L, 80L, 160L);
    }

    @Test
    void nothingBeatsAfterTheEnd() {
        tempo.renewWithin(Duration.ofSeconds(1));
        tempo.close();
        tempo.now();
        tempo.lineWithin(0);
        timer.pass(1_000);
        assertThat(beats).isEmpty();
    }
}
