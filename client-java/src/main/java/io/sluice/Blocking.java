package io.sluice;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** The blocking forms on the one asynchronous core. */
final class Blocking {
    private Blocking() {}

    /** Waits for what is bounded by the store's time-outs; an interrupt is kept for the caller. */
    static <T extends @Nullable Object> T get(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().join();
        } catch (CompletionException e) {
            throw unwrapped(e);
        }
    }

    /** Waits for what may take long; an interrupt ends the wait. */
    static <T> T getInterruptibly(CompletableFuture<T> future) throws InterruptedException {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw unwrapped(e);
        }
    }

    static Throwable cause(Throwable e) {
        Throwable cause = e;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    static RuntimeException unwrapped(Exception e) {
        Throwable cause = e.getCause() == null ? e : cause(e.getCause());
        if (cause instanceof RefusedException refused) {
            return refused;
        }
        if (cause instanceof OutageException outage) {
            // A fresh one, so that the trace shows the caller and not only the thread that delivered the reply.
            return new OutageException(outage.reason(), String.valueOf(outage.getMessage()), outage);
        }
        if (cause instanceof ProviderException provider) {
            return provider.here();
        }
        if (cause instanceof RuntimeException runtime) {
            return runtime;
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(cause);
    }
}
