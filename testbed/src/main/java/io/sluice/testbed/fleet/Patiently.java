package io.sluice.testbed.fleet;

import io.sluice.OutageException;
import java.util.function.Supplier;

/** Before a run begins a Redis that does not answer in time is only slow: a dozen JVMs start beside it. */
final class Patiently {
    private static final int TRIES = 20;

    private Patiently() {}

    static <T> T get(Supplier<T> asked) {
        for (int tries = 1; ; tries++) {
            try {
                return asked.get();
            } catch (OutageException e) {
                if (!e.reason().equals("timeout") || tries == TRIES) {
                    throw e;
                }
            }
        }
    }
}
