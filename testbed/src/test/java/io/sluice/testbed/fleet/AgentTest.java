package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sluice.Usage;
import io.sluice.testbed.emulator.Emulator;
import io.sluice.testbed.emulator.EmulatorOptions;
import io.sluice.testbed.emulator.Limits;
import io.sluice.testbed.fleet.FleetEvent.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An agent against an emulator, with tickets that the test hands out. */
class AgentTest {
    private static final int BURST = 47;
    private static final Profile PROFILE = new Profile(
            "m",
            0,
            0,
            List.of(new Profile.Size("s", 1, 10, 0, 5, 8, 30)),
            Map.of(),
            Map.of(),
            List.of(),
            new Bursts(BURST, 1),
            null,
            Stagger.NONE,
            null,
            null);

    private final Window admission = new Window();
    private final List<FleetEvent.Call> told = new CopyOnWriteArrayList<>();
    private final ScheduledThreadPoolExecutor loop = new ScheduledThreadPoolExecutor(1);
    private Emulator emulator;
    private Agent agent;

    @BeforeEach
    void start() {
        emulator = Emulator.start(EmulatorOptions.of("anthropic", new Limits(null, null, null, 100L)));
        Surroundings around = new Surroundings(
                admission, new Target(emulator.uri(), Wire.ANTHROPIC), loop, System.nanoTime(), this::hear);
        agent = new Agent(new Workload(PROFILE, 1, 0, 0), around);
        loop.execute(() -> agent.start(0));
    }

    @AfterEach
    void stop() {
        loop.shutdownNow();
        emulator.close();
    }

    @Test
    void allCallsOfABurstAskAtOnceAndTheNextStepComesAfterTheLast() {
        await().until(() -> admission.asked.size() == BURST);
        admission.asked.subList(0, BURST - 1).forEach(this::grant);
        await().until(() -> told.size() == BURST - 1);
        assertThat(admission.asked).hasSize(BURST);

        grant(admission.asked.get(BURST - 1));

        await().until(() -> admission.asked.size() == 2 * BURST);
        assertThat(told).hasSize(BURST).allMatch(call -> call.outcome() == Outcome.COMPLETED && call.granted());
        assertThat(told).extracting(FleetEvent.Call::charge).containsOnly(new Charge(1, 10, 0, 0, 5));
        assertThat(told).extracting(FleetEvent.Call::heldMs).allMatch(ms -> ms >= 30);
    }

    @Test
    void theStopSignalDropsWhatWaitsAndLetsEndWhatWasSent() {
        await().until(() -> admission.asked.size() == BURST);
        grant(admission.asked.get(0));
        await().until(() -> admission.granted.get() == 1);

        loop.execute(agent::stop);

        await().until(() -> agent.ended().isDone());
        assertThat(told).hasSize(BURST);
        assertThat(told).filteredOn(call -> call.outcome() == Outcome.COMPLETED).hasSize(1);
        assertThat(told)
                .filteredOn(call -> call.outcome() == Outcome.CUT_OFF && !call.granted())
                .hasSize(BURST - 1);
        assertThat(admission.asked).filteredOn(CompletableFuture::isCancelled).hasSize(BURST - 1);
    }

    @Test
    void aTicketThatComesWithTheStopSignalIsGivenBackUnsent() {
        await().until(() -> admission.asked.size() == BURST);

        loop.execute(() -> {
            // Granted before the stop, but heard of after it: both are done in one turn of the loop.
            grant(admission.asked.get(0));
            agent.stop();
        });

        await().until(() -> agent.ended().isDone());
        assertThat(admission.unsent).hasValue(1);
        assertThat(told).hasSize(BURST).allMatch(call -> call.outcome() == Outcome.CUT_OFF);
    }

    private void hear(FleetEvent event) {
        told.add((FleetEvent.Call) event);
    }

    private void grant(CompletableFuture<Admission.Ticket> asked) {
        asked.complete(admission.new Handed());
    }

    /** Lets nobody go by itself. */
    private static final class Window implements Admission {
        final List<CompletableFuture<Ticket>> asked = new CopyOnWriteArrayList<>();
        final AtomicInteger granted = new AtomicInteger();
        final AtomicInteger unsent = new AtomicInteger();

        @Override
        public CompletableFuture<Ticket> admit(Work work) {
            CompletableFuture<Ticket> ticket = new CompletableFuture<>();
            asked.add(ticket);
            return ticket;
        }

        @Override
        public Duration pause(int rejections, @Nullable Duration retryAfter) {
            return Duration.ofNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }

        @Override
        public void close() {}

        final class Handed implements Ticket {
            @Override
            public String modelClass() {
                granted.incrementAndGet();
                return "c";
            }

            @Override
            public CompletionStage<Charge> settled(Usage usage) {
                Long output = usage.outputTokens();
                return CompletableFuture.completedFuture(new Charge(1, 10, 0, 0, output == null ? 0 : output));
            }

            @Override
            public CompletionStage<Charge> rejected(@Nullable Duration retryAfter) {
                return CompletableFuture.completedFuture(Charge.NOTHING);
            }

            @Override
            public CompletionStage<Charge> unsent() {
                unsent.incrementAndGet();
                return CompletableFuture.completedFuture(Charge.NOTHING);
            }
        }
    }
}
