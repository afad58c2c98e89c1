package io.sluice.testbed.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.emulator.Decision.Accepted;
import io.sluice.testbed.emulator.DecisionLog.Entry;
import io.sluice.testbed.emulator.DecisionLog.Event;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Judges the judge: after random traffic the log alone must show that every limit was kept, that no call was rejected
 * which would have fitted, and that the stats tell the same. Sums are taken the slow way, over the log's lines.
 */
class JudgeTest {
    private static final long RPM = 120;
    private static final long ITPM = 6_000;
    private static final long BURST_US = 5_000_000;
    private static final long MINUTE_US = 60_000_000;

    @ParameterizedTest(name = "{0}, seed {1}")
    @CsvSource({"BUCKET, 1", "BUCKET, 2", "ROLLING, 3", "ROLLING, 4", "QUANTISED, 5", "QUANTISED, 6"})
    void theLogAloneShowsThatLimitsWereKeptAndUsed(Counting counting, long seed) {
        ManualTime time = new ManualTime();
        Enforcer enforcer = new Enforcer(EmulatorOptions.of("anthropic", new Limits(RPM, ITPM, null, null))
                .counting(counting, Duration.ofNanos(BURST_US * 1_000))
                .time(time));
        run(enforcer, time, new Random(seed));
        List<Entry> log = enforcer.log().after(0, Long.MAX_VALUE, Integer.MAX_VALUE);

        for (int i = 0; i < log.size(); i++) {
            Entry entry = log.get(i);
            if (entry.event() == Event.ACCEPTED) {
                assertThat(overUse(counting, log.subList(0, i + 1), entry.atUs(), 0, 0))
                        .isLessThanOrEqualTo(0);
            } else if (entry.event() == Event.REJECTED) {
                assertThat(overUse(
                                counting,
                                log.subList(0, i),
                                entry.atUs(),
                                1,
                                entry.call().counted()))
                        .isPositive();
            }
        }
        assertThat(enforcer.stats().at("/worst_minute/requests").asLong()).isEqualTo(worstMinute(log));
    }

    private static void run(Enforcer enforcer, ManualTime time, Random random) {
        for (long id = 1; id <= 1_500; id++) {
            long input = 1L + random.nextInt(100);
            Call call = new Call("-", "m", false, input, 0, 0, input, 0, false, Duration.ZERO);
            if (enforcer.decide(call, id) instanceof Accepted accepted) {
                enforcer.finish(accepted.running());
            }
            // Bursts and rests, both to the microsecond.
            time.advance(Duration.ofNanos(1_000L * random.nextInt(random.nextInt(20) == 0 ? 9_000_000 : 300_000)));
        }
    }

    /** By how much the worse of both limits would be passed with this much more at {@code nowUs}, in scaled units. */
    private static long overUse(Counting counting, List<Entry> before, long nowUs, long requests, long input) {
        long over = Long.MIN_VALUE;
        long sumRequests = requests;
        long sumInput = input;
        // A bucket keeps its limit if over every span up to now the sum is at most capacity + rate x span.
        over = Math.max(over, over(counting, nowUs, nowUs, sumRequests, sumInput));
        for (int i = before.size() - 1; i >= 0; i--) {
            Entry entry = before.get(i);
            if (entry.event() == Event.ACCEPTED && counts(counting, entry.atUs(), nowUs)) {
                sumRequests++;
                sumInput += entry.call().counted();
                over = Math.max(over, over(counting, entry.atUs(), nowUs, sumRequests, sumInput));
            }
        }
        return over;
    }

    private static boolean counts(Counting counting, long atUs, long nowUs) {
        return switch (counting) {
            case BUCKET -> true;
            case ROLLING -> atUs > nowUs - MINUTE_US;
            case QUANTISED -> atUs / BURST_US == nowUs / BURST_US;
        };
    }

    private static long over(Counting counting, long fromUs, long nowUs, long requests, long input) {
        long spanUs = switch (counting) {
            case BUCKET -> BURST_US + nowUs - fromUs;
            case ROLLING -> MINUTE_US;
            case QUANTISED -> BURST_US;
        };
        return Math.max(requests * MINUTE_US - RPM * spanUs, input * MINUTE_US - ITPM * spanUs);
    }

    private static long worstMinute(List<Entry> log) {
        List<Long> times = log.stream()
                .filter(entry -> entry.event() == Event.ACCEPTED)
                .map(Entry::atUs)
                .toList();
        return times.stream()
                .mapToLong(end -> times.stream()
                        .filter(t -> t > end - MINUTE_US && t <= end)
                        .count())
                .max()
                .orElse(0);
    }
}
