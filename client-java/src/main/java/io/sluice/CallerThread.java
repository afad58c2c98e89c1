package io.sluice;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;

/** Lends the thread that makes a call to its sender, so that an interrupt and a stack trace mean what their reader expects. */
final class CallerThread {
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

    /** The sender as one that does not block: it runs on this thread. */
    Sender.Async runs(Sender sender) {
        return attempt -> {
            CompletableFuture<Response> answer = new CompletableFuture<>();
            tasks.add(() -> send(sender, attempt, answer));
            return answer;
        };
    }

    private static void send(Sender sender, Attempt attempt, CompletableFuture<Response> answer) {
        if (answer.isDone()) {
            return;
        }
        try {
            answer.complete(sender.send(attempt));
        } catch (Throwable e) {
            answer.completeExceptionally(e);
        }
    }

    /** Does what there is to do until the result is there; an interrupt gives it up. */
    Response until(CompletableFuture<Response> result) throws InterruptedException {
        result.whenComplete((response, e) -> tasks.add(() -> {}));
        try {
            while (!result.isDone()) {
                tasks.take().run();
            }
            return result.get();
        } catch (InterruptedException e) {
            result.cancel(false);
            throw e;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof InterruptedException interrupted) {
                throw interrupted;
            }
            throw Blocking.unwrapped(e);
        }
    }
}
