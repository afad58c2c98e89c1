package io.sluice.testbed.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testbed.emulator.DecisionLog.Entry;
import io.sluice.testbed.emulator.DecisionLog.Event;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class DecisionLogTest {
    private static final Call CALL = new Call("agent \"1\"", "m", false, 10, 20, 30, 40, 50, false, Duration.ZERO);
    private static final Pool POOL = new Pool("default", EmulatorOptions.of("anthropic", Limits.NONE));

    @Test
    void keepsTheNewestAndCountsWhatWent() {
        DecisionLog log = filled(3_000, 5_000);

        assertThat(log.dropped()).isEqualTo(2_000);
        assertThat(log.after(0, 5_000, 9_999))
                .extracting(Entry::id)
                .hasSize(3_000)
                .startsWith(2_001L)
                .endsWith(5_000L)
                .isSorted();
    }

    @Test
    void isReadInPiecesUpToAnEnd() {
        DecisionLog log = filled(9_999, 5_000);

        assertThat(log.after(1_234, 5_000, 2)).extracting(Entry::seq).containsExactly(1_235L, 1_236L);
        assertThat(log.after(4_998, 4_999, 100)).extracting(Entry::seq).containsExactly(4_999L);
        assertThat(log.after(5_000, 5_000, 100)).isEmpty();
        assertThat(log.after(99_999, 99_999, 100)).isEmpty();
        assertThat(log.after(-5, 5_000, 1)).extracting(Entry::seq).containsExactly(1L);
        assertThat(log.after(0, Long.MAX_VALUE, Integer.MAX_VALUE)).hasSize(5_000);
    }

    @Test
    void clearingForgetsTheEntriesButNotTheNumbers() {
        DecisionLog log = filled(10, 25);
        log.clear();
        log.add(Event.ACCEPTED, 7_000, 1, CALL, POOL, null, 0);

        assertThat(log.dropped()).isZero();
        assertThat(log.after(0, 99, 99)).extracting(Entry::seq).containsExactly(26L);
    }

    @Test
    void aLineHasEveryField() {
        DecisionLog log = new DecisionLog(10, 1_000_000);
        log.add(Event.REJECTED, 2_500_900, 7, CALL, POOL, Kind.INPUT, 0);
        log.add(Event.ABORTED, 2_500_900, 7, CALL, POOL, null, 12);

        String[] lines = new String(LogLine.render(log.after(0, 9, 9)), StandardCharsets.UTF_8).split("\n", 0);

        assertThat(lines).containsExactly("""
                {"seq":1,"t_ms":1500,"at":"1970-01-01T00:00:02.500900Z","event":"rejected","agent":"agent \\"1\\"",\
                "model":"m","pool":"default","kind":"input","input":10,"cache_read":20,"cache_write":30,"charged":40,"output":0,\
                "in_flight":0,"status":429,"id":"req_7"}""", """
                {"seq":2,"t_ms":1500,"at":"1970-01-01T00:00:02.500900Z","event":"aborted","agent":"agent \\"1\\"",\
                "model":"m","pool":"default","input":10,"cache_read":20,"cache_write":30,"charged":40,"output":12,\
                "in_flight":0,"status":499,"id":"req_7"}""");
    }

    private static DecisionLog filled(int capacity, int entries) {
        DecisionLog log = new DecisionLog(capacity, 0);
        for (int i = 1; i <= entries; i++) {
            log.add(Event.ACCEPTED, i, i, CALL, POOL, null, 0);
        }
        return log;
    }

    @Test
    void slicesAddUpWhateverTheRemainder() {
        for (long output : List.of(0L, 1L, 7L, 100L, 4_097L)) {
            for (long ms : List.of(0L, 50L, 1_000L, 7_300L)) {
                Call call = new Call("-", "m", true, 1, 0, 0, 1, output, false, Duration.ofMillis(ms));
                long slices = Production.slices(call);
                long sum = 0;
                for (long i = 0; i < slices; i++) {
                    sum += Production.slice(output, i, slices);
                }
                assertThat(sum).isEqualTo(output);
            }
        }
    }
}
