package io.sluice.testbed.fleet;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** Futures that can be cancelled all the way down. */
final class Linked {
    private Linked() {}

    /**
     * A future of {@code end}, the last of a chain that begins with {@code start}. Cancelling it cancels {@code start}; a
     * result that comes nevertheless is handed to {@code tooLate}.
     */
    static <T> CompletableFuture<T> to(Future<?> start, CompletionStage<T> end, Consumer<T> tooLate) {
        CompletableFuture<T> linked = new CompletableFuture<>();
        end.whenComplete((value, e) -> {
            if (e != null) {
                linked.completeExceptionally(cause(e));
            } else if (!linked.complete(value)) {
                tooLate.accept(value);
            }
        });
        linked.whenComplete((value, e) -> {
            if (linked.isCancelled()) {
                start.cancel(true);
            }
        });
        return linked;
    }

    /** What went wrong, without the wrapping of futures. */
    static Throwable cause(Throwable e) {
        return e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
    }
}
