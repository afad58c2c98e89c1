package io.sluice;

import io.sluice.Store.PermitName;
import io.sluice.Store.Renewal;
import java.util.concurrent.CompletableFuture;

/** A permit of the desk that its caller wants to keep: carried by the next beat, with all others that come meanwhile. */
final class Renewing {
    private static final int TRIES = 3;

    final PermitName name;

    /** What became of it. */
    final CompletableFuture<Renewal> result = new CompletableFuture<>();

    private int tries;

    Renewing(PermitName name) {
        this.name = name;
    }

    /** Nobody knows whether it arrived. Returns whether it should be sent again: twice is safe. */
    boolean triesAgain() {
        return ++tries < TRIES;
    }
}
