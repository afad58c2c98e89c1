package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ClosingTest {
    /** Its threads and its connections to Redis were left. */
    @Test
    void whatCannotBeClosedKeepsNothingElseOpen() {
        FakeStore store = new FakeStore();
        store.listening = () -> {
            throw new IllegalStateException("a test's");
        };
        SluiceClient client = new SluiceClient(store, Sluice.Options.DEFAULT);
        client.project("acme");

        client.close();

        assertThat(store.closed).isTrue();
        assertThat(client.timer.isShutdown()).isTrue();
        assertThat(client.callbacks.isShutdown()).isTrue();
    }
}
