package io.sluice.testbed.fleet;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;

/** A number of slots that are waited for without a thread, first come, first served. */
final class Slots {
    private final Deque<CompletableFuture<Void>> waiters = new ArrayDeque<>();
    private int free;

    Slots(int slots) {
        free = slots;
    }

    /** Completes with a slot taken. Whoever cancels it takes none. */
    CompletableFuture<Void> take() {
        CompletableFuture<Void> slot = new CompletableFuture<>();
        synchronized (this) {
            if (free == 0) {
                waiters.add(slot);
                return slot;
            }
            free--;
        }
        slot.complete(null);
        return slot;
    }

    /** Hands a slot to the first who still waits. */
    void give() {
        CompletableFuture<Void> next;
        do {
            synchronized (this) {
                next = waiters.poll();
                if (next == null) {
                    free++;
                    return;
                }
            }
            // Outside the lock: what waits for it runs here.
        } while (!next.complete(null));
    }
}
