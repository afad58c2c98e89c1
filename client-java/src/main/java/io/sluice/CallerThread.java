package io.sluice;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;

/** Lends the thread that makes a call to its sender, so that an interrupt and a stack trace mean what their reader expects. */
final class CallerThread {
    private final Thread caller = Thread.currentThread();
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private boolean sending;

    /** The call is over, and its sender need not go on. */
    private boolean over;

    /** The sender as one that does not block: it runs on this thread. */
    Sender.Async runs(Sender sender) {
        return attempt -> {
            CompletableFuture<Response> answer = new CompletableFuture<>();
            tasks.add(() -> send(sender, attempt, answer));
            return answer;
        };
    }

    private void send(Sender sender, Attempt attempt, CompletableFuture<Response> answer) {
        if (answer.isDone() || !begins()) {
            return;
        }
        Response response;
        try {
            response = sender.send(attempt);
        } catch (Throwable e) {
            ends();
            answer.completeExceptionally(e);
            return;
        }
        ends();
        answer.complete(response);
    }

    private synchronized boolean begins() {
        sending = !over;
        return sending;
    }

    private synchronized void ends() {
        sending = false;
        if (over) {
            Thread.interrupted(); // by stops(); it was for the sender
        }
    }

    /** Somebody else ended the call, as by closing the client: the sender is told as one that blocks can be. */
    private synchronized void stops() {
        over = true;
        if (sending) {
            caller.interrupt();
        }
    }

    /** Does what there is to do until the result is there; an interrupt gives it up. */
    Response until(CompletableFuture<Response> result) throws InterruptedException {
        result.whenComplete((response, e) -> {
            stops();
            tasks.add(() -> {});
        });
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
