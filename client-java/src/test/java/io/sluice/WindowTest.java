package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class WindowTest {
    private final Window window = new Window(2);
    private final List<CompletableFuture<String>> started = new ArrayList<>();

    private CompletionStage<String> command() {
        CompletableFuture<String> command = new CompletableFuture<>();
        started.add(command);
        return command;
    }

    @Test
    void noMoreAreUnderWayAndTheOthersComeInTurn() {
        List<CompletionStage<String>> all = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            all.add(window.run(this::command));
        }
        assertThat(started).hasSize(2);
        started.get(1).complete("b");
        assertThat(started).hasSize(3);
        started.get(0).completeExceptionally(new IllegalStateException("a"));
        started.get(2).complete("c");
        assertThat(started).hasSize(5);
        started.get(3).complete("d");
        assertThat(all.get(0).toCompletableFuture()).isCompletedExceptionally();
        assertThat(all.get(1).toCompletableFuture()).isCompletedWithValue("b");
        assertThat(all.get(2).toCompletableFuture()).isCompletedWithValue("c");
        assertThat(all.get(3).toCompletableFuture()).isCompletedWithValue("d");
        assertThat(all.get(4).toCompletableFuture()).isNotDone();
    }

    @Test
    void aCommandThatThrowsMakesRoomToo() {
        for (int i = 0; i < 3; i++) {
            CompletionStage<String> failed = window.run(() -> {
                throw new IllegalStateException("at once");
            });
            assertThat(failed.toCompletableFuture()).isCompletedExceptionally();
        }
        window.run(this::command);
        assertThat(started).hasSize(1);
    }

    /** As with a breaker that is open: each started the next on top of its stack. */
    @Test
    void tenThousandThatEndAtOnceDoNotPileUp() {
        window.run(this::command);
        window.run(this::command);
        List<CompletionStage<String>> all = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            all.add(window.run(() -> CompletableFuture.completedStage("at once")));
        }
        started.get(0).complete("");
        assertThat(all).allMatch(one -> one.toCompletableFuture().isDone());
        assertThat(window.run(this::command).toCompletableFuture()).isNotDone();
        assertThat(started).hasSize(3);
    }
}
