package io.sluice.testbed.clients;

import io.sluice.Sluice;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;

/** A process that is told to stop, as docs/clients.md shows it. */
final class StoppingExample {
    private StoppingExample() {}

    static void stopsInOrder(ExecutorService workers, Sluice sluice) {
        // docs: stopping
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            workers.shutdown(); // no new calls
            try {
                workers.awaitTermination(20, TimeUnit.SECONDS); // what is over by then is settled as ever
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            sluice.close(); // the rest is cancelled and booked; no slot stays in use
        }));
        // end
    }
}
