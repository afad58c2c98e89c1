package io.sluice.testbed.emulator;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.emulator.Decision.Accepted;
import io.sluice.testbed.emulator.Decision.Rejected;
import io.sluice.testbed.emulator.Decision.Running;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class EnforcerTest {
    private final ManualTime time = new ManualTime();
    private long ids;

    @Test
    void rejectsByTheFirstLimitAndWaitsForTheLongest() {
        Enforcer enforcer = enforcer("rpm=1,itpm=60");
        accept(enforcer, call(60, 0));

        Rejected rejected = reject(enforcer, call(30, 0));

        // One request is back after 60 s, 30 tokens after 30 s.
        assertThat(rejected.kind()).isEqualTo(Kind.REQUESTS);
        assertThat(rejected.waitUs()).isEqualTo(60_000_000);
    }

    @Test
    void aRejectionLeavesEveryLimitAsItWas() {
        Enforcer enforcer = enforcer("rpm=10,itpm=60");
        accept(enforcer, call(40, 0));
        reject(enforcer, call(30, 0));

        Accepted accepted = accept(enforcer, call(20, 0));

        assertThat(left(accepted, Kind.REQUESTS)).isEqualTo(8);
        assertThat(left(accepted, Kind.INPUT)).isZero();
    }

    @Test
    void aRejectedRequestCountsOnlyWhereTheProviderSaysSo() {
        Enforcer enforcer = new Enforcer(options("rpm=2,itpm=60").countRejected(true));
        reject(enforcer, call(61, 0));
        accept(enforcer, call(1, 0));

        assertThat(reject(enforcer, call(1, 0)).kind()).isEqualTo(Kind.REQUESTS);
        assertThat(enforcer.stats().path("requests").asLong()).isEqualTo(3);
    }

    @Test
    void cacheReadsAreNotCounted() {
        Enforcer enforcer = enforcer("itpm=60");
        Call call = new Call("-", "m", false, 20, 1_000_000, 40, 60, 1, false, Duration.ZERO);

        assertThat(left(accept(enforcer, call), Kind.INPUT)).isZero();
    }

    @Test
    void outputIsBookedAsItIsProducedAndSeenByTheNext() {
        Enforcer enforcer = enforcer("otpm=60");
        Running first = accept(enforcer, call(1, 100)).running();
        Running second = accept(enforcer, call(1, 100)).running();
        enforcer.produced(first, 59);
        accept(enforcer, call(1, 100));
        enforcer.produced(second, 31);

        Rejected rejected = reject(enforcer, call(1, 1));

        assertThat(rejected.kind()).isEqualTo(Kind.OUTPUT);
        assertThat(rejected.waitUs()).isEqualTo(30_000_001);
        time.advance(Duration.ofSeconds(31));
        accept(enforcer, call(1, 1));
    }

    @Test
    void aClientThatLeavesFreesItsSlotAndKeepsItsTokensBooked() {
        Enforcer enforcer = enforcer("otpm=600,concurrency=1");
        Running running = accept(enforcer, call(1, 500)).running();
        enforcer.produced(running, 200);
        Rejected rejected = reject(enforcer, call(1, 1));
        assertThat(rejected.kind()).isEqualTo(Kind.CONCURRENCY);
        assertThat(rejected.waitUs()).isZero();

        enforcer.abort(running);
        enforcer.abort(running);
        enforcer.finish(running);
        enforcer.produced(running, 300);

        Accepted next = accept(enforcer, call(1, 1));
        assertThat(left(next, Kind.OUTPUT)).isEqualTo(400);
        assertThat(enforcer.stats().path("aborted").asLong()).isEqualTo(1);
        assertThat(enforcer.stats().path("finished").asLong()).isZero();
        assertThat(enforcer.stats().path("in_flight").asLong()).isEqualTo(1);
    }

    @Test
    void poolsDoNotShareLimits() {
        Enforcer enforcer = new Enforcer(options("rpm=1,concurrency=1").pools(Map.of("haiku", "claude-HAIKU-*")));
        accept(enforcer, call("claude-haiku-4-5"));
        reject(enforcer, call("claude-haiku-5"));
        accept(enforcer, call("claude-sonnet-5-5"));
        reject(enforcer, call("another"));

        assertThat(enforcer.log().after(0, 9, 9))
                .extracting(DecisionLog.Entry::pool)
                .containsExactly("haiku", "haiku", "default", "default");
    }

    @Test
    void zeroIsClosedAndAbsentIsUnlimited() {
        for (Counting counting : Counting.values()) {
            for (String limit : List.of("rpm=0", "itpm=0", "otpm=0", "concurrency=0")) {
                reject(new Enforcer(options(limit).counting(counting, Duration.ofSeconds(60))), call(1, 1));
            }
        }
        accept(new Enforcer(options("rpm=1").counting(Counting.ROLLING, Duration.ofSeconds(60))), call(99_999_999, 1));
    }

    @Test
    void theWorstMinuteIsTheLargestOverAnySixtySeconds() {
        Enforcer enforcer = enforcer("rpm=1000");
        // Requests at 0, 20, 40, 61 and 62 s: the last four lie within 42 s, the first is gone by 60 s.
        long[] gaps = {0, 20, 20, 21, 1};
        for (long gap : gaps) {
            time.advance(Duration.ofSeconds(gap));
            Running running = accept(enforcer, call(10, 5)).running();
            enforcer.produced(running, 5);
            enforcer.finish(running);
        }
        time.advance(Duration.ofHours(1));
        accept(enforcer, call(39, 0));

        JsonNode worst = enforcer.stats().path("worst_minute");
        assertThat(worst.path("requests").asLong()).isEqualTo(4);
        assertThat(worst.path("input").asLong()).isEqualTo(40);
        assertThat(worst.path("output").asLong()).isEqualTo(20);
    }

    @Test
    void aRollingProviderNeverSeesMoreThanItsLimitInAMinute() {
        Enforcer enforcer = new Enforcer(options("rpm=50,itpm=4000").counting(Counting.ROLLING, Duration.ofSeconds(5)));
        for (int i = 0; i < 3_000; i++) {
            Decision decision = enforcer.decide(call(1 + i * 37 % 200, 0), ++ids);
            if (decision instanceof Accepted accepted) {
                enforcer.finish(accepted.running());
            }
            time.advance(Duration.ofMillis(i * 13 % 250));
        }

        JsonNode worst = enforcer.stats().path("worst_minute");
        assertThat(worst.path("requests").asLong()).isBetween(30L, 50L);
        assertThat(worst.path("input").asLong()).isBetween(3_800L, 4_000L);
    }

    @Test
    void logAndStatsAgree() {
        Enforcer enforcer = enforcer("rpm=3,concurrency=2");
        Running first = accept(enforcer, call(10, 5)).running();
        accept(enforcer, call(20, 5));
        reject(enforcer, call(1, 1));
        enforcer.produced(first, 5);
        enforcer.finish(first);
        time.advance(Duration.ofMillis(1_500));
        Running third = accept(enforcer, call(30, 5)).running();
        enforcer.abort(third);
        reject(enforcer, call(1, 1));

        List<DecisionLog.Entry> log = enforcer.log().after(0, 99, 99);
        JsonNode stats = enforcer.stats();
        assertThat(log.stream().map(e -> e.event() + "/" + e.inFlight() + "/" + e.kind()))
                .containsExactly(
                        "ACCEPTED/1/null",
                        "ACCEPTED/2/null",
                        "REJECTED/2/CONCURRENCY",
                        "FINISHED/1/null",
                        "ACCEPTED/2/null",
                        "ABORTED/1/null",
                        "REJECTED/1/REQUESTS");
        assertThat(log.get(4).sinceStartUs()).isEqualTo(1_500_000);
        assertThat(log.get(3).output()).isEqualTo(5);
        assertThat(stats.path("accepted").asLong()).isEqualTo(3);
        assertThat(stats.path("rejected").toString()).isEqualTo("{\"requests\":1,\"concurrency\":1}");
        assertThat(stats.path("input_tokens").asLong()).isEqualTo(60);
        assertThat(stats.path("output_tokens").asLong()).isEqualTo(5);
        assertThat(stats.path("peak_in_flight").asLong()).isEqualTo(2);
    }

    @Test
    void resetStartsOverUnlessCallsAreInFlight() {
        Enforcer enforcer = enforcer("rpm=1");
        Running running = accept(enforcer, call(1, 1)).running();
        assertThat(enforcer.reset()).isFalse();
        enforcer.finish(running);

        assertThat(enforcer.reset()).isTrue();

        assertThat(enforcer.stats().path("accepted").asLong()).isZero();
        accept(enforcer, call(1, 1));
        assertThat(enforcer.log().after(0, 99, 99))
                .extracting(DecisionLog.Entry::seq)
                .containsExactly(3L);
    }

    @Test
    void timeStandsStillWhileTheClockIsBack() {
        Enforcer enforcer = enforcer("rpm=60");
        accept(enforcer, call(1, 1));
        time.advance(Duration.ofSeconds(-5));

        assertThat(left(accept(enforcer, call(1, 1)), Kind.REQUESTS)).isEqualTo(58);
    }

    private Enforcer enforcer(String limits) {
        return new Enforcer(options(limits));
    }

    private EmulatorOptions options(String limits) {
        return EmulatorOptions.of("anthropic", Limits.parse(limits)).time(time);
    }

    private static Call call(long input, long output) {
        return new Call("-", "m", false, input, 0, 0, input, output, false, Duration.ZERO);
    }

    private static Call call(String model) {
        return new Call("-", model, false, 1, 0, 0, 1, 1, false, Duration.ZERO);
    }

    private Accepted accept(Enforcer enforcer, Call call) {
        Decision decision = enforcer.decide(call, ++ids);
        assertThat(decision).isInstanceOf(Accepted.class);
        return (Accepted) decision;
    }

    private Rejected reject(Enforcer enforcer, Call call) {
        Decision decision = enforcer.decide(call, ++ids);
        assertThat(decision).isInstanceOf(Rejected.class);
        return (Rejected) decision;
    }

    private static long left(Accepted accepted, Kind kind) {
        return requireNonNull(accepted.standing().levels().get(kind)).remaining();
    }
}
