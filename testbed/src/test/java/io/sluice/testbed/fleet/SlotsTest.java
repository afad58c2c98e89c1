package io.sluice.testbed.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SlotsTest {
    private final Slots slots = new Slots(1);

    @Test
    void whoComesFirstIsServedFirst() {
        CompletableFuture<Void> first = slots.take();
        CompletableFuture<Void> second = slots.take();
        CompletableFuture<Void> third = slots.take();
        assertThat(first).isDone();
        assertThat(second).isNotDone();

        slots.give();

        assertThat(second).isDone();
        assertThat(third).isNotDone();
    }

    @Test
    void whoHasGivenUpIsPassedOver() {
        slots.take();
        CompletableFuture<Void> second = slots.take();
        CompletableFuture<Void> third = slots.take();
        second.cancel(true);

        slots.give();

        assertThat(third).isCompleted();
        slots.give();
        assertThat(slots.take()).isCompleted();
        assertThat(slots.take()).isNotDone();
    }
}
