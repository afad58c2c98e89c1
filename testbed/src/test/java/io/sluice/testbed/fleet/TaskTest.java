package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.Priority;
import io.sluice.testbed.emulator.Emulator;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import io.sluice.testbed.fleet.FleetEvent.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tools that take no time; what each call comes to is the test's choice. */
class TaskTest {
    private final ScheduledThreadPoolExecutor loop = new ScheduledThreadPoolExecutor(1);
    private final Emulator emulator = Emulator.start(EmulatorOptions.of("anthropic", Limits.NONE));
    private final BlockingQueue<Work> made = new LinkedBlockingQueue<>();
    private final List<Long> inputs = new ArrayList<>();
    private final Task task = new Task(
            LongStream.rangeClosed(0, 3).mapToObj(TaskTest::work).toList(),
            new Tools(3, 0, 0),
            new Surroundings(
                    new NoAdmission(), new Target(emulator.uri(), Wire.ANTHROPIC), loop, System.nanoTime(), e -> {}),
            made::add,
            () -> loop.execute(() -> begin()));

    @AfterEach
    void stop() {
        loop.shutdownNow();
        emulator.close();
    }

    @Test
    void aToolRunsAfterEachCallButTheLast() throws Exception {
        begin();

        assertThat(ends(Outcome.COMPLETED, Outcome.COMPLETED, Outcome.COMPLETED, Outcome.COMPLETED))
                .isTrue();
        assertThat(inputs).containsExactly(0L, 1L, 2L, 3L);
        assertThat(task.told(true)).isEqualTo(new FleetEvent.Task("p0/a0", true, 0, 3, 0));
    }

    @Test
    void aCallGivenUpInTheMiddleLosesWhatTheToolsHadTold() throws Exception {
        begin();

        assertThat(ends(Outcome.COMPLETED, Outcome.COMPLETED, Outcome.GIVEN_UP)).isFalse();
        assertThat(ends(Outcome.COMPLETED, Outcome.COMPLETED, Outcome.COMPLETED, Outcome.COMPLETED))
                .isTrue();
        assertThat(inputs).containsExactly(0L, 1L, 2L, 0L, 1L, 2L, 3L);
        // Two tools ran before it was lost, and again after it.
        assertThat(task.told(true)).isEqualTo(new FleetEvent.Task("p0/a0", true, 1, 5, 2));
    }

    @Test
    void aFirstCallGivenUpLosesNothing() throws Exception {
        begin();

        assertThat(ends(Outcome.GIVEN_UP, Outcome.COMPLETED, Outcome.CUT_OFF)).isFalse();
        assertThat(task.told(false)).isEqualTo(new FleetEvent.Task("p0/a0", false, 0, 1, 0));
    }

    private void begin() {
        task.begin();
    }

    /** Whether the last of them completed the task. */
    private boolean ends(Outcome... outcomes) throws Exception {
        boolean complete = false;
        for (Outcome outcome : outcomes) {
            Work work = made.poll(10, TimeUnit.SECONDS);
            inputs.add(work == null ? -1L : Long.valueOf(work.input()));
            complete = loop.submit(() -> task.ended(outcome)).get(10, TimeUnit.SECONDS);
        }
        return complete;
    }

    private static Work work(long input) {
        return new Work("p0/a0", null, null, Priority.NORMAL, "m", "s", 0, input, 0, 5, 8, 0, 3);
    }
}
