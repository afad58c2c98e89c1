package io.sluice;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * So many commands under way at a time, the others in turn. Ten thousand calls that ask at once would else stand in the
 * connection's queue longer than a command may take, time out there, and ask again on top.
 */
final class Window {
    private final int most;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int underWay;
    private boolean starting;

    Window(int most) {
        this.most = most;
    }

    <T> CompletionStage<T> run(Supplier<CompletionStage<T>> command) {
        synchronized (this) {
            if (underWay >= most) {
                CompletableFuture<T> later = new CompletableFuture<>();
                waiting.add(() -> start(command).whenComplete((result, e) -> {
                    if (e == null) {
                        later.complete(result);
                    } else {
                        later.completeExceptionally(e);
                    }
                }));
                return later;
            }
            underWay++;
        }
        return start(command);
    }

    private <T> CompletionStage<T> start(Supplier<CompletionStage<T>> command) {
        CompletionStage<T> started;
        try {
            started = command.get();
        } catch (RuntimeException e) {
            started = CompletableFuture.failedStage(e);
        }
        return started.whenComplete((result, e) -> ended());
    }

    /** One that ends at once does not start the next on top of its own stack. */
    private void ended() {
        synchronized (this) {
            underWay--;
            if (starting) {
                return;
            }
            starting = true;
        }
        while (true) {
            Runnable next;
            synchronized (this) {
                next = underWay < most ? waiting.poll() : null;
                if (next == null) {
                    starting = false;
                    return;
                }
                underWay++;
            }
            next.run();
        }
    }
}
